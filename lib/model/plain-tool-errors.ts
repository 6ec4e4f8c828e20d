import type { LanguageModelV4, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { wrapLanguageModel } from "ai";

/**
 * Sends the errors of tools as text. OpenAI's wire has no errors of tools, so that the client would write them as JSON, in
 * which line breaks and quotes are hard to read for a model.
 */
export const withPlainToolErrors = (model: LanguageModelV4): LanguageModelV4 =>
  wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      transformParams: async ({ params }) => ({ ...params, prompt: params.prompt.map(toPlain) }),
    },
  });

function toPlain(message: LanguageModelV4Prompt[number]): LanguageModelV4Prompt[number] {
  if (message.role !== "tool") return message;
  const content = message.content.map((part) =>
    part.type === "tool-result" && part.output.type === "error-text"
      ? { ...part, output: { type: "text" as const, value: `Error: ${part.output.value}` } }
      : part,
  );
  return { ...message, content };
}
