import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelMessage } from "ai";
import { ownCallIds } from "./own-call-ids.ts";

const part = (toolCallId: string, toolName: string) => ({
  type: "tool-call" as const,
  toolCallId,
  toolName,
  input: {},
});
const result = (toolCallId: string, toolName: string) => ({
  type: "tool-result" as const,
  toolCallId,
  toolName,
  output: { type: "error-text" as const, value: "wrong" },
});
const idsOf = (message: ModelMessage | undefined) =>
  typeof message?.content === "string"
    ? []
    : (message?.content ?? []).flatMap((each) => ("toolCallId" in each ? [each.toolCallId] : []));

describe("the ids of an answer's calls", () => {
  it("are our own, the same in the calls, the message and the results that came with it", () => {
    const messages: ModelMessage[] = [
      { role: "assistant", content: [{ type: "text", text: "I look." }, part("0", "look"), part("1", "go")] },
      { role: "tool", content: [result("1", "go")] },
    ];
    const { calls, modelMessages } = ownCallIds([{ callId: "0" }, { callId: "1" }], messages);
    const ids = calls.map(({ callId }) => callId);
    for (const id of ids) assert.match(id, /^call_[a-z2-7]{24}$/);
    assert.deepEqual(idsOf(modelMessages[0]), ids);
    assert.deepEqual(idsOf(modelMessages[1]), [ids[1]]);
  });

  it("differ if a provider used one id twice", () => {
    const messages: ModelMessage[] = [{ role: "assistant", content: [part("0", "a"), part("0", "b")] }];
    const { calls, modelMessages } = ownCallIds([{ callId: "0" }, { callId: "0" }], messages);
    const ids = calls.map(({ callId }) => callId);
    assert.equal(new Set(ids).size, 2);
    assert.deepEqual(idsOf(modelMessages[0]), ids);
  });

  it("do not change texts", () => {
    const messages: ModelMessage[] = [{ role: "assistant", content: "Done." }];
    assert.deepEqual(ownCallIds([], messages).modelMessages, messages);
  });
});
