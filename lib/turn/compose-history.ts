import type { ModelMessage, ToolResultPart } from "ai";
import type { HistoryRow } from "./store.ts";

/**
 * The rows of a session as messages for the model. A tool call whose result was never recorded (its turn was stopped
 * or failed) gets one that says so: a provider refuses a call without a result.
 */
export function composeHistory(rows: HistoryRow[]): ModelMessage[] {
  const messages: ModelMessage[] = [];
  let open: { toolCallId: string; toolName: string }[] = [];
  const settleOpen = () => {
    if (open.length > 0) messages.push({ role: "tool", content: open.map(notExecuted) });
    open = [];
  };
  for (const row of rows) {
    if (row.kind === "message") {
      settleOpen();
      messages.push({ role: row.role, content: row.parts.map((part) => part.text ?? "").join("\n") });
      continue;
    }
    // Steps hold what the AI SDK made; it survives JSON.
    for (const message of row.modelMessages as ModelMessage[]) {
      if (message.role !== "tool") settleOpen();
      if (message.role === "assistant") {
        if (typeof message.content !== "string")
          open = message.content.flatMap((part) =>
            part.type === "tool-call" ? [{ toolCallId: part.toolCallId, toolName: part.toolName }] : [],
          );
      }
      if (message.role === "tool") {
        const answered = new Set(
          message.content.map((part) => (part.type === "tool-result" ? part.toolCallId : "")),
        );
        open = open.filter((call) => !answered.has(call.toolCallId));
      }
      messages.push(message);
    }
  }
  return messages;
}

/** Closes the last assistant message's open calls; for a prompt that is about to be sent. */
export function settleCalls(messages: ModelMessage[]): ModelMessage[] {
  const lastAssistant = messages.findLastIndex((message) => message.role === "assistant");
  const assistant = messages[lastAssistant];
  if (assistant?.role !== "assistant" || typeof assistant.content === "string") return messages;
  const answered = new Set(
    messages
      .slice(lastAssistant + 1)
      .flatMap((message) => (message.role === "tool" ? message.content : []))
      .map((part) => (part.type === "tool-result" ? part.toolCallId : "")),
  );
  const open = assistant.content.flatMap((part) =>
    part.type === "tool-call" && !answered.has(part.toolCallId)
      ? [{ toolCallId: part.toolCallId, toolName: part.toolName }]
      : [],
  );
  if (open.length === 0) return messages;
  const results: ModelMessage = { role: "tool", content: open.map(notExecuted) };
  return [...messages.slice(0, lastAssistant + 1), results, ...messages.slice(lastAssistant + 1)];
}

const notExecuted = (call: { toolCallId: string; toolName: string }): ToolResultPart => ({
  type: "tool-result",
  ...call,
  output: { type: "error-text", value: "This call was not executed: its turn ended before." },
});
