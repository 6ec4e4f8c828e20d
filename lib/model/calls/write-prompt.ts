import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { AssistantModelMessage, ModelMessage, ToolResultPart, UserModelMessage } from "ai";

/** How tool errors are sent: as the provider's error type, or as text. */
export type ToolErrorForm = "typed" | "text";

type PromptCache = WeakMap<ModelMessage, LanguageModelV4Message>;
type Output = ToolResultPart["output"];
type PromptPart<Role extends LanguageModelV4Message["role"]> = Extract<
  LanguageModelV4Message,
  { role: Role }
>["content"][number];

/** Caches converted messages. Messages are immutable, so each message is converted only once. */
const promptCache: Record<ToolErrorForm, PromptCache> = { typed: new WeakMap(), text: new WeakMap() };

/**
 * Converts instructions and messages to a prompt for an AI SDK model. Fields that the service adds to messages are
 * omitted.
 *
 * @param messages every tool call in them must have a result.
 * @throws Error for a part that the service never writes, such as a file in a user's message.
 */
export function writePrompt(
  instructions: string,
  messages: readonly ModelMessage[],
  errors: ToolErrorForm,
): LanguageModelV4Prompt {
  const cache = promptCache[errors];
  const prompt: LanguageModelV4Prompt = [{ role: "system", content: instructions }];
  for (const message of messages) {
    let converted = cache.get(message);
    if (!converted) {
      converted = writeMessage(message, errors);
      cache.set(message, converted);
    }
    const last = prompt.at(-1);
    // Results of parallel calls are stored one by one. They are merged here, because providers expect the results of
    // one step in one message.
    if (converted.role === "tool" && last?.role === "tool")
      prompt[prompt.length - 1] = { ...last, content: [...last.content, ...converted.content] };
    else prompt.push(converted);
  }
  return prompt;
}

function writeMessage(message: ModelMessage, errors: ToolErrorForm): LanguageModelV4Message {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.content };
    case "user":
      return { role: "user", content: listParts(message.content).map(writeUserPart) };
    case "assistant":
      return { role: "assistant", content: listParts(message.content).flatMap(writeAssistantPart) };
    case "tool":
      return { role: "tool", content: message.content.map((part) => writeToolPart(part, errors)) };
  }
}

const listParts = <Part>(content: string | readonly Part[]) =>
  typeof content === "string" ? [{ type: "text" as const, text: content }] : content;

const withOptions = (options: SharedV4ProviderOptions | undefined) => options && { providerOptions: options };

function writeUserPart(
  part: Exclude<UserModelMessage["content"], string>[number] | { type: "text"; text: string },
): PromptPart<"user"> {
  if (part.type === "file" && isInline(part.data))
    return { type: "file", mediaType: part.mediaType, data: part.data };
  if (part.type !== "text") throw new Error(`a user's message holds a part of the kind ${part.type}`);
  return { type: "text", text: part.text };
}

function writeAssistantPart(
  part: Exclude<AssistantModelMessage["content"], string>[number] | { type: "text"; text: string },
): PromptPart<"assistant">[] {
  const options = "providerOptions" in part ? withOptions(part.providerOptions) : undefined;
  switch (part.type) {
    case "text":
      return part.text === "" && !options ? [] : [{ type: "text", text: part.text, ...options }];
    case "reasoning":
      return [{ type: "reasoning", text: part.text, ...options }];
    case "tool-call": {
      const { toolCallId, toolName, input } = part;
      return [{ type: "tool-call", toolCallId, toolName, input, ...options }];
    }
    default:
      throw new Error(`an answer holds a part of the kind ${part.type}`);
  }
}

function writeToolPart(
  part: Extract<ModelMessage, { role: "tool" }>["content"][number],
  errors: ToolErrorForm,
): PromptPart<"tool"> {
  if (part.type !== "tool-result") throw new Error(`a tool's message holds a part of the kind ${part.type}`);
  const { toolCallId, toolName, output, providerOptions } = part;
  return {
    type: "tool-result",
    toolCallId,
    toolName,
    output: writeOutput(output, errors),
    ...withOptions(providerOptions),
  };
}

/**
 * Converts a tool result. OpenAI's API has no type for errors, so an error for this API is converted to text. Without
 * the conversion, the client would send the error as JSON, with escaped line breaks and quotes.
 */
function writeOutput(
  output: Output,
  errors: ToolErrorForm,
): Extract<PromptPart<"tool">, { output: unknown }>["output"] {
  if (output.type === "error-text" && errors === "text")
    return { type: "text", value: `Error: ${output.value}` };
  if (output.type !== "content") return output;
  return {
    type: "content",
    value: output.value.map((item) => {
      if (item.type === "text") return { type: "text", text: item.text };
      if (item.type === "file" && isInline(item.data))
        return { type: "file", mediaType: item.mediaType, data: item.data };
      throw new Error(`a tool's result holds an item of the kind ${item.type}`);
    }),
  };
}

const isInline = (data: unknown): data is { type: "data"; data: string | Uint8Array } =>
  typeof data === "object" && data !== null && "type" in data && data.type === "data";
