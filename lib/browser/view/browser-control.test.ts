import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createBrowserControl } from "./browser-control.ts";
import type { ControlState } from "./control-state.ts";

/** Creates fake processes. The test delivers each message to all processes in the same order, as Postgres does. */
function openProcesses<Name extends string>(names: Name[]) {
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
      { self },
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
    sent,
    reportGap: (name: Name) => listeners.get(name)?.onGap(),
    holders: () => names.map((name) => processes[name].holderOf("ses_a")),
  };
}

const state = (stamp: number, connectionId: string | null, hostId = "bh_1"): ControlState => ({
  sessionId: "ses_a",
  hostId,
  stamp,
  holder: connectionId === null ? null : { connectionId, name: "Ada", expiry: null },
  ended: connectionId === null ? "given_back" : null,
  isPrivate: false,
});

describe("what processes know of control", () => {
  test("is what the host says, in processes that are not connected to it, too", () => {
    const { one, deliver, holders } = openProcesses(["one", "two"]);
    one.apply(state(5, "con_1"));
    deliver();
    assert.deepEqual(holders(), ["con_1", "con_1"]);
    one.apply(state(6, null));
    deliver();
    assert.deepEqual(holders(), [undefined, undefined]);
  });

  test("is not changed by older states, and told once", () => {
    const { one, two, deliver, holders, sent } = openProcesses(["one", "two"]);
    one.apply(state(5, "con_1"));
    two.apply(state(5, "con_1"));
    deliver();
    two.apply(state(4, "con_0"));
    one.apply(state(5, "con_1"));
    assert.equal(sent.length, 0);
    assert.deepEqual(holders(), ["con_1", "con_1"]);
  });

  test("calls the listeners after each change, until they are removed", () => {
    const { one, two, deliver } = openProcesses(["one", "two"]);
    let changes = 0;
    const holders: (string | undefined)[] = [];
    const stop = two.follow("ses_a", () => changes++);
    const stopHolders = two.onHolder(({ holder }) => holders.push(holder?.connectionId));
    const first = state(5, "con_1");
    one.apply(first);
    const near = {
      connectionId: "con_1",
      name: "Ada",
      expiry: { reason: "idle", at: "2026-01-01" },
    } as const;
    one.apply({ ...first, stamp: 6, holder: near });
    deliver();
    assert.deepEqual([changes, holders], [2, ["con_1"]]);
    stop();
    stopHolders();
    one.apply(state(7, null));
    deliver();
    assert.deepEqual([changes, holders], [2, ["con_1"]]);
  });

  test("reaches a process that starts later, and one that missed messages", () => {
    const all = openProcesses(["one", "two"]);
    all.one.apply(state(5, "con_1"));
    all.sent.splice(0);
    all.reportGap("two");
    all.deliver();
    assert.deepEqual(all.holders(), ["con_1", "con_1"]);
    const late = all.open("late");
    all.deliver();
    assert.equal(late.holderOf("ses_a"), "con_1");
  });

  test("is free when the host has ended, or does not list the session any more", () => {
    const all = openProcesses(["one", "two"]);
    all.one.apply(state(5, "con_1"));
    all.deliver();
    all.two.dropHost("bh_2");
    all.deliver();
    assert.deepEqual(all.holders(), ["con_1", "con_1"]);
    all.two.dropHost("bh_1");
    all.deliver();
    assert.deepEqual(all.holders(), [undefined, undefined]);
    all.one.applyAll("bh_1", [state(7, "con_2")]);
    all.deliver();
    assert.deepEqual(all.holders(), ["con_2", "con_2"]);
    all.one.applyAll("bh_1", []);
    all.deliver();
    assert.deepEqual(all.holders(), [undefined, undefined]);
  });

  test("follows a session to another host, whose clock may be behind", () => {
    const { one } = openProcesses(["one"]);
    one.apply(state(500, "con_1"));
    one.apply(state(3, "con_2", "bh_2"));
    assert.equal(one.holderOf("ses_a"), "con_2");
    one.apply(state(501, null));
    assert.equal(one.holderOf("ses_a"), "con_2", "the end at the earlier host comes late");
  });

  test("is corrected by what the host answers", () => {
    const { one } = openProcesses(["one"]);
    one.apply(state(5, "con_1"));
    one.settle("ses_a", state(5, "con_1"));
    assert.equal(one.holderOf("ses_a"), "con_1");
    one.settle("ses_a", state(6, null));
    assert.equal(one.holderOf("ses_a"), undefined);
    one.apply(state(7, "con_2"));
    one.settle("ses_a", undefined);
    assert.equal(one.holderOf("ses_a"), undefined);
  });
});
