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

test("a promise covers all notices that are sent until it resolves, and one is given for each time of sending", async () => {
  const sent: string[] = [];
  const sending: Promise<void>[] = [];
  const outbox = createOutbox(
    {
      isListening: () => true,
      async notify(payloads) {
        await new Promise(setImmediate);
        for (const payload of payloads) for (const { word } of JSON.parse(payload).notices) sent.push(word);
      },
    },
    "here",
    (promise) => void sending.push(promise),
  );
  const push = (word: string) => outbox.push({ type: "signal", topic: "test", word });
  push("one");
  push("two");
  await Promise.all(sending);
  assert.deepEqual([sent, sending.length], [["one", "two"], 1]);
  push("three");
  await Promise.all(sending);
  assert.deepEqual([sent, sending.length], [["one", "two", "three"], 2]);
});
