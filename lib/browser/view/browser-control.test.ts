import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitUntil } from "#lib/events/testing.ts";
import { createBrowserControl } from "./browser-control.ts";

/** Creates fake processes. The test delivers each message to all processes in the same order, as Postgres does. */
function openProcesses<Name extends string>(names: Name[], confirmMs?: number) {
  const sent: string[] = [];
  const listeners = new Map<string, { onMessage: (message: string) => void; onGap: () => void }>();
  const open = (self: string) =>
    createBrowserControl(
      {
        publish: (message) => void sent.push(message),
        subscribe(onMessage, onGap) {
          listeners.set(self, { onMessage, onGap });
          return () => listeners.delete(self);
        },
      },
      { self, ...(confirmMs !== undefined && { confirmMs }) },
    );
  const processes = Object.fromEntries(names.map((name) => [name, open(name)])) as Record<
    Name,
    ReturnType<typeof open>
  >;
  const deliver = () => {
    while (sent.length > 0) {
      const message = sent.shift() ?? "";
      for (const { onMessage } of [...listeners.values()]) onMessage(message);
    }
  };
  deliver();
  return {
    ...processes,
    deliver,
    open,
    stop: (name: Name) => void listeners.delete(name),
    reportGap: (name: Name) => listeners.get(name)?.onGap(),
    dropMessages: () => void sent.splice(0),
    holders: () => names.map((name) => processes[name].holderOf("ses_a")),
  };
}

describe("control of a browser", () => {
  test("is with the connection that took it last, in every process", () => {
    const { one, two, deliver, holders } = openProcesses(["one", "two"]);
    one.take("ses_a", "con_1");
    deliver();
    assert.deepEqual(holders(), ["con_1", "con_1"]);
    two.take("ses_a", "con_2");
    one.release("ses_a", "con_1");
    deliver();
    assert.deepEqual(holders(), ["con_2", "con_2"]);
    assert.equal(one.holderOf("ses_b"), undefined);
    two.release("ses_a", "con_2");
    deliver();
    assert.deepEqual(holders(), [undefined, undefined]);
  });

  test("stays with a newer take when the former holder releases before it has received the take", ({
    mock,
  }) => {
    mock.timers.enable({ apis: ["Date"], now: 1_000 });
    const { one, two, deliver, holders } = openProcesses(["one", "two"]);
    one.take("ses_a", "con_1");
    deliver();
    mock.timers.tick(5);
    two.take("ses_a", "con_2");
    mock.timers.tick(5);
    one.release("ses_a", "con_1");
    deliver();
    assert.deepEqual(holders(), ["con_2", "con_2"]);
  });

  test("is with one connection even if two take it at the same moment", () => {
    const { one, two, three, deliver, holders } = openProcesses(["one", "two", "three"]);
    one.take("ses_a", "con_1");
    two.take("ses_a", "con_2");
    deliver();
    const [holder] = holders();
    assert.ok(holder);
    assert.deepEqual(holders(), [holder, holder, holder]);
    assert.equal(three.holderOf("ses_a"), holder);
  });

  test("calls the listener after each change, until it is removed", () => {
    const { one, two, deliver } = openProcesses(["one", "two"]);
    let changes = 0;
    const stop = two.follow("ses_a", () => changes++);
    one.take("ses_a", "con_1");
    one.take("ses_a", "con_1");
    deliver();
    assert.equal(changes, 1);
    stop();
    one.release("ses_a", "con_1");
    deliver();
    assert.equal(changes, 1);
  });

  test("is known to a process that starts later, and to one that missed messages", () => {
    const all = openProcesses(["one", "two"]);
    all.one.take("ses_a", "con_1");
    all.dropMessages();
    all.reportGap("two");
    all.deliver();
    assert.deepEqual(all.holders(), ["con_1", "con_1"]);
    const late = all.open("late");
    all.deliver();
    assert.equal(late.holderOf("ses_a"), "con_1");
  });

  test("ends with the process of its connection, once a process follows the session or waits", async () => {
    const all = openProcesses(["one", "two"], 5);
    all.one.take("ses_a", "con_1");
    all.deliver();
    all.stop("one");
    const isFree = all.two.untilFree("ses_a", 30_000, new AbortController().signal);
    all.deliver();
    assert.equal(await isFree, true);
    assert.equal(all.two.holderOf("ses_a"), undefined);
  });

  test("stays with a connection whose process answers", async () => {
    const all = openProcesses(["one", "two"], 5);
    all.one.take("ses_a", "con_1");
    all.one.take("ses_b", "con_2");
    all.deliver();
    all.two.follow("ses_a", () => {});
    all.deliver();
    // This call asks process `one` to repeat the claim to `ses_b`. The question is not delivered, so this claim ends
    // after `confirmMs`. The question about `ses_a` is older. If `one` had not answered it, the claim to `ses_a` would
    // have ended earlier.
    all.two.follow("ses_b", () => {});
    await waitUntil(() => all.two.holderOf("ses_b") === undefined, "the unanswered one has ended");
    assert.equal(all.two.holderOf("ses_a"), "con_1");
  });

  test("can be waited for until it is free, the timeout or an abort", async () => {
    const { one } = openProcesses(["one"]);
    const never = new AbortController().signal;
    assert.equal(await one.untilFree("ses_a", 0, never), true);
    one.take("ses_a", "con_1");
    assert.equal(await one.untilFree("ses_a", 1, never), false);
    assert.equal(await one.untilFree("ses_a", 60_000, AbortSignal.abort()), false);
    const stopping = new AbortController();
    const stopped = one.untilFree("ses_a", 60_000, stopping.signal);
    stopping.abort();
    assert.equal(await stopped, false);
    const isFree = one.untilFree("ses_a", 60_000, never);
    one.release("ses_a", "con_1");
    assert.equal(await isFree, true);
  });
});
