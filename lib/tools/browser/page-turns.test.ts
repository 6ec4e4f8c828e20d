import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTick } from "node:timers/promises";
import { createPageTurns } from "./page-turns.ts";

const signal = new AbortController().signal;

describe("turns on a shared page", () => {
  it("calls of different agents run one at a time, in order of arrival; calls of one agent run concurrently", async () => {
    const turns = createPageTurns();
    const started: string[] = [];
    const take = async (sessionId: string, name: string) => {
      const end = await turns.take({ browserSessionId: "page", sessionId }, signal);
      started.push(name);
      return end;
    };
    const [first, second] = await Promise.all([take("parent", "p1"), take("parent", "p2")]);
    const child = take("child", "c1");
    const later = take("parent", "p3");
    await nextTick();
    assert.deepEqual(started, ["p1", "p2"]);
    first();
    await nextTick();
    assert.deepEqual(started, ["p1", "p2"], "one call of the parent is still in progress");
    second();
    (await child)();
    (await later)();
    assert.deepEqual(started, ["p1", "p2", "c1", "p3"]);
    (await take("child", "c2"))();
  });

  it("a stopped call leaves the queue; other pages do not wait", async () => {
    const turns = createPageTurns();
    const end = await turns.take({ browserSessionId: "page", sessionId: "parent" }, signal);
    const stop = new AbortController();
    const stopped = turns.take({ browserSessionId: "page", sessionId: "child" }, stop.signal);
    const next = turns.take({ browserSessionId: "page", sessionId: "other" }, signal);
    (await turns.take({ browserSessionId: "elsewhere", sessionId: "child" }, signal))();
    stop.abort(new Error("stopped"));
    await assert.rejects(stopped, /stopped/);
    end();
    (await next)();
  });
});
