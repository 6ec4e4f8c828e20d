import assert from "node:assert/strict";
import { test } from "node:test";
import { createOutbox } from "./notice-outbox.ts";

test("10,000 notices wait while the connection is down; further ones replace them by a gap", async () => {
  let isListening = false;
  const sent: { type: string; word?: string }[] = [];
  const outbox = createOutbox(
    {
      isListening: () => isListening,
      async notify(payloads) {
        for (const payload of payloads) sent.push(...JSON.parse(payload).notices);
      },
    },
    "here",
  );
  const push = (index: number) => outbox.push({ type: "signal", topic: "test", word: String(index) });
  for (let index = 0; index < 10_000; index += 1) push(index);
  isListening = true;
  await outbox.flush();
  assert.equal(sent.splice(0).length, 10_000);

  isListening = false;
  for (let index = 0; index < 10_002; index += 1) push(index);
  isListening = true;
  await outbox.flush();
  assert.deepEqual(
    sent.map(({ type, word }) => word ?? type),
    ["gap", "10000", "10001"],
  );
});
