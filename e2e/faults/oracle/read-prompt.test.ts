import assert from "node:assert/strict";
import { test } from "node:test";
import { SUMMARY_REQUEST } from "#lib/turn/compaction/summary-prompt.ts";
import { writeTag } from "../world/tag.ts";
import { readPrompt } from "./read-prompt.ts";

const call = (call_id: string) => ({ type: "function_call", call_id });
const result = (call_id: string, output: unknown = "done") => ({
  type: "function_call_output",
  call_id,
  output,
});
const task = writeTag({ kind: "tools", nonce: "abcd" });

test("a sound prompt has its tasks, and every call has its result", () => {
  const steer = writeTag({ kind: "plain", nonce: "efgh" });
  const facts = readPrompt(`${task}\n${steer}`, [call("1"), result("1")]);
  assert.deepEqual(facts, {
    isSubAgent: false,
    isSummary: false,
    tags: ["abcd", "efgh"],
    unpaired: [],
    unknown: [],
  });
});

test("a call without a result, a result without a call and a second result are found", () => {
  const facts = readPrompt(task, [call("1"), result("2"), call("3"), result("3"), result("3")]);
  assert.deepEqual(facts.unpaired, ["1", "3", "2"]);
});

test("a result that says that the outcome is unknown is known by its call, also among parts", () => {
  const parts = [{ type: "input_text", text: "Outcome unknown: …" }];
  assert.deepEqual(readPrompt(task, [call("1"), result("1", parts)]).unknown, ["1"]);
});

test("a request for a summary is told from the work", () => {
  assert.equal(readPrompt(`${task}\n${SUMMARY_REQUEST}`, []).isSummary, true);
});
