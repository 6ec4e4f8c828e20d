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

test("a complete prompt has its tasks and no unpaired call", () => {
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

test("`unpaired` names calls without a result, results without a call, and calls with two results", () => {
  const facts = readPrompt(task, [call("1"), result("2"), call("3"), result("3"), result("3")]);
  assert.deepEqual(facts.unpaired, ["1", "3", "2"]);
});

test("`unknown` names calls whose result reports an unknown outcome, also in a part of the result", () => {
  const parts = [{ type: "input_text", text: "Outcome unknown: …" }];
  assert.deepEqual(readPrompt(task, [call("1"), result("1", parts)]).unknown, ["1"]);
});

test("`isSummary` is true for a request for a summary", () => {
  assert.equal(readPrompt(`${task}\n${SUMMARY_REQUEST}`, []).isSummary, true);
});
