import assert from "node:assert/strict";
import { test } from "node:test";
import { createTurns, type TurnOutcome } from "./take-turns.ts";

const never = new AbortController().signal;

/** Starts work that adds its name to `started` when it begins, and ends when `finish` is called. */
function startWork(turns: ReturnType<typeof createTurns>, name: string, started: string[], signal = never) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = turns(name, signal, async () => {
    started.push(name);
    await promise;
  });
  return { finish: resolve, done };
}

async function readRefusal(done: Promise<TurnOutcome<void>>): Promise<string> {
  const outcome = await done;
  return outcome.ok ? "begun" : outcome.error;
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("work of one name waits for its turn in order; work of another name does not wait", async () => {
  const turns = createTurns({ atOnce: 1, waitingMax: 5 });
  const started: string[] = [];
  const first = startWork(turns, "a", started);
  const second = startWork(turns, "a", started);
  const other = startWork(turns, "b", started);
  await settle();
  assert.deepEqual(started, ["a", "b"]);
  first.finish();
  await first.done;
  await settle();
  assert.deepEqual(started, ["a", "b", "a"]);
  second.finish();
  other.finish();
  await Promise.all([second.done, other.done]);
});

test("work that is stopped while it waits never begins, and does not block the queue", async () => {
  const turns = createTurns({ atOnce: 1, waitingMax: 5 });
  const started: string[] = [];
  const stop = new AbortController();
  const first = startWork(turns, "a", started);
  const second = startWork(turns, "a", started, stop.signal);
  const third = startWork(turns, "a", started);
  stop.abort();
  assert.match(await readRefusal(second.done), /stopped/);
  first.finish();
  await first.done;
  third.finish();
  await third.done;
  assert.equal(started.length, 2);
});

test("work beyond the queue limit is refused at once, and a failure frees its slot", async () => {
  const turns = createTurns({ atOnce: 1, waitingMax: 1 });
  const started: string[] = [];
  const first = startWork(turns, "a", started);
  const second = startWork(turns, "a", started);
  assert.match(await readRefusal(startWork(turns, "a", started).done), /Too many/);
  first.finish();
  second.finish();
  await Promise.all([first.done, second.done]);
  await assert.rejects(
    turns("a", never, async () => {
      throw new Error("broken");
    }),
    /broken/,
  );
  assert.deepEqual(await turns("a", never, async () => 1), { ok: true, value: 1 });
});
