import assert from "node:assert/strict";
import { test } from "node:test";
import type { Topic } from "#lib/events/bus/topic.ts";
import { createWatchList } from "./watch-list.ts";

const CONFIRM_MS = 1_000;
const settle = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** Creates watch lists of different processes, which share one topic. `cut` ends the delivery to a process. */
function openProcesses<Name extends string>(...names: Name[]) {
  const listeners = new Map<string, (text: string) => void>();
  const topicOf = (name: string): Topic => ({
    publish: (text) =>
      void setImmediate(() => {
        for (const listener of [...listeners.values()]) listener(text);
      }),
    subscribe(onText) {
      listeners.set(name, onText);
      return () => listeners.delete(name);
    },
  });
  const lists = names.map((self) => createWatchList(topicOf(self), { self, confirmMs: CONFIRM_MS }));
  return { lists, cut: (name: Name) => void listeners.delete(name) };
}

test("a process that does not answer a question is dropped, and one that answers is kept, however often it is asked", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { lists, cut } = openProcesses("own", "other", "gone");
  const [own, other, gone] = lists;
  t.after(() => {
    for (const list of lists) list.close();
  });
  const counts: number[] = [];
  own?.join("ses_1", (watching) => counts.push(watching));
  other?.join("ses_1", () => {});
  gone?.join("ses_1", () => {});
  await settle();
  await settle();
  assert.equal(own?.count("ses_1"), 3);

  cut("gone");
  own?.join("ses_1", () => {});
  await settle();
  await settle();
  t.mock.timers.tick(CONFIRM_MS - 1);
  // This question is asked just before the time for the first one ends. Its answers are still under way then.
  own?.join("ses_1", () => {});
  await new Promise((resolve) => setImmediate(resolve));
  t.mock.timers.tick(1);
  await settle();
  assert.equal(own?.count("ses_1"), 4, "only the process that did not answer the first question is dropped");
  await settle();
  t.mock.timers.tick(CONFIRM_MS);
  await settle();
  assert.equal(own?.count("ses_1"), 4);
  assert.equal(counts.at(-1), 4);
});
