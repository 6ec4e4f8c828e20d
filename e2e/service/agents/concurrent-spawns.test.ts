import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { and, eq, isNull } from "drizzle-orm";
import { agents } from "#db/schema/index.ts";
import type { StepToolCall } from "#e2e/fixtures/scripted-model/types.ts";
import { openTestService, type TestService, UNUSED_BROWSER } from "../testing.ts";
import { readAgents, spawn, submit, wait } from "./agents-testing.ts";

const ADVICE = "Wait for one, cancel one, or spawn fewer.";

const times = <Item>(count: number, item: () => Item): Item[] => Array.from({ length: count }, item);

/** Creates a barrier: a function whose promises all resolve when the function has been called `count` times. */
function createBarrier(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let arrived = 0;
  return () => {
    arrived += 1;
    if (arrived === count) resolve();
    return promise;
  };
}

/**
 * The largest numbers of live sub-agents at one time. `total`: all below the root. `children`: those of one parent.
 * `browsers`: those of one parent that have their own browser.
 */
type Peak = { total: number; children: number; browsers: number };

/** Counts the live sub-agents repeatedly until `work` is done. Each count is a snapshot, read by a single statement. */
async function watchPeak(service: TestService, rootSessionId: string, work: Promise<void>): Promise<Peak> {
  const { db } = service.container.services;
  const peak = { total: 0, children: 0, browsers: 0 };
  const look = async () => {
    const live = await db
      .select({ parent: agents.parentSessionId, browser: agents.browser })
      .from(agents)
      .where(and(eq(agents.rootSessionId, rootSessionId), isNull(agents.outcome)));
    const byParent = [...Map.groupBy(live, ({ parent }) => parent).values()];
    const browsers = byParent.map((rows) => rows.filter(({ browser }) => browser === "own").length);
    peak.total = Math.max(peak.total, live.length);
    peak.children = Math.max(peak.children, ...byParent.map((rows) => rows.length));
    peak.browsers = Math.max(peak.browsers, ...browsers);
  };
  let isOver = false;
  work.finally(() => {
    isOver = true;
  });
  while (!isOver) await look();
  await work;
  return peak;
}

/**
 * Reads the results of `spawn_agents`: the number of calls, the number of admitted calls, and the texts of refusals.
 */
function readSpawnResults(service: TestService, marker: string) {
  const last = new Map<string, string[]>();
  for (const { text, userText, toolResults } of service.model.requests) {
    if (!userText.includes(marker)) continue;
    const name = /Your name is (\S+), at/.exec(text)?.[1] ?? "root";
    last.set(name, toolResults);
  }
  const results = [...last.values()].flat().filter((text) => /spawn_agents|statusUrl/.test(text));
  return {
    calls: results.length,
    admitted: results.filter((text) => !text.startsWith("Error")).length,
    refusals: results.filter((text) => text.startsWith("Error")),
  };
}

describe("concurrent calls of spawn_agents", () => {
  it("by 20 sub-agents of one root never exceed DELEGATION_MAX_LIVE_TOTAL", async () => {
    const service = await openTestService({
      DELEGATION_MAX_LIVE_CHILDREN: "20",
      DELEGATION_MAX_LIVE_TOTAL: "27",
    });
    const allWork = createBarrier(20);
    const allSpawned = createBarrier(20);
    const { promise: go, resolve } = Promise.withResolvers<void>();
    service.model.respondWith(async ({ userText, answersSoFar }) => {
      if (userText.includes("hold on")) return { hold: go, holdAt: "start", toolCalls: [submit("held")] };
      if (userText.includes("spawn one")) {
        if (answersSoFar === 0) {
          await allWork();
          return { toolCalls: [spawn({ objective: "hold on" })] };
        }
        if (answersSoFar > 1) return { toolCalls: [submit("done")] };
        // Waits until all 20 sub-agents have a result of their spawn call, so that all of them are live at the same
        // time.
        await allSpawned();
        resolve();
        return { toolCalls: [wait()] };
      }
      const ten = spawn(...times(10, () => ({ objective: "spawn one" })));
      return [{ toolCalls: [ten, ten] }, { toolCalls: [wait()] }][answersSoFar] ?? { text: "Done." };
    });
    try {
      const session = await service.create("lead crowd", {
        subAgents: true,
        capabilities: { browser: false, sandbox: false },
      });
      const peak = await watchPeak(service, session.sessionId, service.completed(session.statusUrl));
      const rows = await readAgents(service, session.sessionId);
      assert.equal(rows.filter(({ depth }) => depth === 1).length, 20);
      assert.equal(rows.filter(({ depth }) => depth === 2).length, 7);
      assert.ok(peak.total <= 27, `${peak.total} live sub-agents`);
      assert.ok(peak.children <= 20, `${peak.children} live children`);
      assert.deepEqual(readSpawnResults(service, "spawn one"), {
        calls: 20,
        admitted: 7,
        refusals: times(
          13,
          () =>
            `Error: spawn_agents: 1 more child would exceed DELEGATION_MAX_LIVE_TOTAL=27 (27 live in the whole tree). ${ADVICE}`,
        ),
      });
      assert.deepEqual(
        rows.map(({ outcome }) => outcome),
        rows.map(() => "succeeded"),
      );
    } finally {
      resolve();
      await service.close();
    }
  });

  it("in one message, by four sub-agents at once, never exceed maxLiveChildren and maxLiveBrowsers", async () => {
    const service = await openTestService({
      ...UNUSED_BROWSER,
      SANDBOX: "unconfined",
      DELEGATION_MAX_LIVE_TOTAL: "30",
    });
    const caps = { maxLiveChildren: 4, maxLiveBrowsers: 2 };
    const own: StepToolCall = spawn({ objective: "hold on", browser: "own" });
    const none: StepToolCall = spawn({ objective: "hold on" });
    const allWork = createBarrier(4);
    const allSpawned = createBarrier(4);
    const { promise: go, resolve } = Promise.withResolvers<void>();
    service.model.respondWith(async ({ userText, answersSoFar }) => {
      if (userText.includes("hold on")) return { hold: go, holdAt: "start", toolCalls: [submit("held")] };
      if (userText.includes("spawn five times")) {
        if (answersSoFar === 0) {
          await allWork();
          return { toolCalls: [own, own, own, none, none] };
        }
        if (answersSoFar === 1) return { toolCalls: [none] };
        if (answersSoFar > 2) return { toolCalls: [submit("done")] };
        await allSpawned();
        resolve();
        return { toolCalls: [wait()] };
      }
      const four = spawn(...times(4, () => ({ objective: "spawn five times", browser: "shared" })));
      return [{ toolCalls: [four] }, { toolCalls: [wait()] }][answersSoFar] ?? { text: "Done." };
    });
    try {
      const session = await service.create("lead browsers", { subAgents: true, delegation: caps });
      const peak = await watchPeak(service, session.sessionId, service.completed(session.statusUrl));
      assert.ok(peak.children <= 4, `${peak.children} live children of one parent`);
      assert.ok(peak.browsers <= 2, `${peak.browsers} live children with their own browser`);
      const rows = await readAgents(service, session.sessionId);
      for (const { sessionId } of rows.filter(({ depth }) => depth === 1))
        assert.deepEqual(
          rows.filter((row) => row.parentSessionId === sessionId).map(({ browser }) => browser),
          ["own", "own", "none", "none"],
        );
      const { calls, admitted, refusals } = readSpawnResults(service, "spawn five times");
      assert.deepEqual([calls, admitted], [24, 16]);
      const count = (sentence: string) => refusals.filter((text) => text === sentence).length;
      assert.deepEqual(
        [
          count(
            `Error: spawn_agents: 1 more child with browser: own would exceed maxLiveBrowsers=2 (2 live). ${ADVICE}`,
          ),
          count(`Error: spawn_agents: 1 more child would exceed maxLiveChildren=4 (4 live). ${ADVICE}`),
        ],
        [4, 4],
        refusals.join("\n"),
      );
    } finally {
      resolve();
      await service.close();
    }
  });

  it("never exceed a cap while other sub-agents end, and each refusal names the cap and its value", async () => {
    const service = await openTestService({ DELEGATION_MAX_LIVE_TOTAL: "6" });
    const ROUNDS = 5;
    service.model.respondWith(({ userText, answersSoFar }) => {
      if (userText.includes("end at once")) return { toolCalls: [submit("ended")] };
      if (userText.includes("spawn and wait")) {
        if (answersSoFar < ROUNDS)
          return {
            toolCalls: [spawn({ objective: "end at once" }), spawn({ objective: "end at once" }), wait()],
          };
        return { toolCalls: [submit("done")] };
      }
      const four = spawn(...times(4, () => ({ objective: "spawn and wait" })));
      return [{ toolCalls: [four] }, { toolCalls: [wait()] }][answersSoFar] ?? { text: "Done." };
    });
    try {
      const session = await service.create("lead churn", {
        subAgents: true,
        capabilities: { browser: false, sandbox: false },
      });
      const peak = await watchPeak(service, session.sessionId, service.completed(session.statusUrl));
      assert.ok(peak.total <= 6, `${peak.total} live sub-agents`);
      const { calls, admitted, refusals } = readSpawnResults(service, "spawn and wait");
      assert.equal(calls, 4 * ROUNDS * 2);
      for (const refusal of refusals)
        assert.equal(
          refusal,
          `Error: spawn_agents: 1 more child would exceed DELEGATION_MAX_LIVE_TOTAL=6 (6 live in the whole tree). ${ADVICE}`,
        );
      const rows = await readAgents(service, session.sessionId);
      assert.equal(rows.length, 4 + admitted);
      assert.deepEqual(
        rows.map(({ outcome }) => outcome),
        rows.map(() => "succeeded"),
      );
    } finally {
      await service.close();
    }
  });
});
