import assert from "node:assert/strict";
import { test } from "node:test";
import { CALL_TOOL } from "#lib/catalogue/tools.ts";
import type { HistoryMessage } from "../history/history-entry.ts";
import { offloadMessage } from "./shorten-message.ts";

const calling = (toolName: string, input: unknown): HistoryMessage => ({
  role: "assistant",
  content: [{ type: "tool-call", toolCallId: "call", toolName, input }],
});

test("a long call through call_tool keeps the name of the tool that it calls", () => {
  const long = { items: Array.from({ length: 200 }, (_, index) => ({ id: index, text: "short" })) };
  const how = { canReadOn: true };
  const inputOf = (message: HistoryMessage) =>
    JSON.stringify(offloadMessage(message, how).content).match(/"input":(.*)\}\]$/)?.[1] ?? "";
  assert.match(inputOf(calling("update_plan", long)), /^\{"leftOut":"an input of \d+ characters/);
  assert.match(
    inputOf(calling(CALL_TOOL, { name: "update_plan", input: long })),
    /^\{"name":"update_plan","input":\{"leftOut":"an input of \d+ characters/,
  );
});
