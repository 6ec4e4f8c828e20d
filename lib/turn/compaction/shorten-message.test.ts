import assert from "node:assert/strict";
import { test } from "node:test";
import { CALL_TOOL } from "#lib/catalogue/tools.ts";
import { estimateMessage } from "../history/estimate-tokens.ts";
import type { HistoryMessage } from "../history/history-entry.ts";
import { offloadMessage } from "./shorten-message.ts";
import { writeTranscript } from "./write-transcript.ts";

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

test("pictures that a caller attached become lines, and the text stays", () => {
  const text = { type: "text", text: "See\n\n[The sender attached 1 file …]" } as const;
  const message: HistoryMessage = {
    role: "user",
    content: [text, { type: "text", text: "evidence:evi_a;image/png" }],
  };
  assert.deepEqual(estimateMessage(message).pictures, 1);
  assert.deepEqual(writeTranscript([message], 1_000), [`[user] ${text.text}\n\n[picture evi_a of the user]`]);
  const shortened = offloadMessage(message, { canReadOn: true });
  assert.deepEqual(shortened.content, [text, { type: "text", text: "[picture evi_a, not shown again]" }]);
  assert.equal(offloadMessage(shortened, { canReadOn: true }), shortened);
});
