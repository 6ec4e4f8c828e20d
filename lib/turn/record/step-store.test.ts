import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { eq } from "drizzle-orm";
import { browsers, outbox, requests, runs, toolCalls } from "#db/schema/index.ts";
import { BROWSER_TOOLS, type FollowUpMode } from "#db/schema/unions.ts";
import { openTestDatabase } from "#db/testing.ts";
import { insertTestSession } from "#lib/session/transcript/transcript-fixture.ts";
import { browserTools } from "#lib/tools/browser/index.ts";
import { variantTools } from "#lib/variant/tools/index.ts";
import { writeTurn } from "./step-store.ts";
import { takeRun } from "./turn-store.ts";
import type { EndWrite } from "./turn-write.ts";

const { db, close } = await openTestDatabase();
after(close);

const usage = {
  inputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cachedInputTokens: 0,
  modelCalls: 0,
  toolCalls: 0,
  durationMs: 0,
};

/** A session whose first run plays, with requests of these modes behind it. */
async function line(name: string, first: FollowUpMode, ...modes: FollowUpMode[]) {
  const id = `ses_${name}`;
  const { requestId, runId } = await insertTestSession(db, id);
  await db.update(requests).set({ mode: first }).where(eq(requests.id, requestId));
  for (const [index, mode] of modes.entries()) {
    const [request, origin] = [`req_${name}_${mode}`, "external" as const];
    await db
      .insert(requests)
      .values({ id: request, sessionId: id, position: index + 2, mode, origin, bodyHash: "hash" });
    await db
      .insert(runs)
      .values({ id: `run_${name}_${mode}`, sessionId: id, requestId: request, attempt: 1, origin });
  }
  return async (retry: EndWrite["retry"]) => {
    const end: EndWrite = { state: "errored", error: "busy", usage, endedAt: new Date(), retry };
    const receipt = await writeTurn(db, { runId, epoch: 0 }, { end, drafts: [] });
    return receipt?.following?.id;
  };
}
const retryOf = (name: string) => ({ runId: `run_${name}_retry`, attempt: 2, delayMs: 0 });

describe("the end of a run", () => {
  test("sends the job of the next in line: an interrupt before a message that came earlier", async () => {
    const end = await line("next", "queue", "queue", "interrupt");
    assert.equal(await end(undefined), "run_next_interrupt");
    const jobs = await db.select().from(outbox).where(eq(outbox.id, "run_next_interrupt:2"));
    assert.equal(jobs.length, 1);
  });

  test("that is tried again leaves the queue waiting", async () => {
    const end = await line("tried", "queue", "queue");
    assert.equal(await end(retryOf("tried")), undefined);
  });

  test("sends an interrupt before its own retry, unless it is an interrupt itself", async () => {
    const end = await line("urgent", "queue", "queue", "interrupt");
    assert.equal(await end(retryOf("urgent")), "run_urgent_interrupt");
    const endInterrupt = await line("both", "interrupt", "interrupt");
    assert.equal(await endInterrupt(retryOf("both")), undefined);
  });
});

describe("a retry that waits", () => {
  const DAYS_2 = 2 * 86_400_000;
  const take = async (name: string, afterMs: number) => {
    const end = await line(name, "queue");
    const retry = { ...retryOf(name), delayMs: 60_000 };
    await end(retry);
    const now = new Date(Date.now() + afterMs);
    return takeRun(db, { runId: retry.runId, generation: 1, player: "player", now });
  };

  test("is claimed once its time has come", async () => {
    const early = await take("early", 1_000);
    assert.ok(early.status === "later" && early.delayMs > 0 && early.delayMs <= 60_000);
    assert.equal((await take("due", 120_000)).status, "taken");
  });

  test("is claimed at once where the clock was set back or forward by two days since", async () => {
    assert.equal((await take("back", -DAYS_2)).status, "taken");
    assert.equal((await take("forward", DAYS_2)).status, "taken");
  });
});

describe("the page error of a run", () => {
  const names = ["used", "unused", "reached", "failed"] as const;
  for (const name of names)
    test(`is kept for a run that succeeded and used the browser: ${name}`, async () => {
      const sessionId = `ses_page_${name}`;
      const { runId } = await insertTestSession(db, sessionId);
      const lastError = name === "reached" ? null : "shop.example was not found";
      await db.insert(browsers).values({ sessionId, status: "ready", lastError });
      await db.insert(toolCalls).values({
        runId,
        sessionId,
        callId: "call",
        resultId: `res_${name}`,
        input: {},
        state: "failed",
        name: name === "unused" ? "fetch_url" : "screenshot",
        endedAt: new Date(),
      });
      const isFailed = name === "failed";
      const end: EndWrite = {
        usage,
        endedAt: new Date(),
        retry: undefined,
        ...(isFailed ? { state: "errored", error: "busy" } : { state: "succeeded", error: null }),
      };
      await writeTurn(db, { runId, epoch: 0 }, { end, drafts: [] });
      const [run] = await db.select().from(runs).where(eq(runs.id, runId));
      assert.equal(run?.pageError, name === "used" ? lastError : null);
    });
});

test("the names of the browser tools are those of the tools that work on the live browser", () => {
  // Describing a tool touches none of its services.
  const tools = [
    ...browserTools({} as Parameters<typeof browserTools>[0]),
    ...variantTools({} as Parameters<typeof variantTools>[0]).filter(({ needs }) => needs === "browser"),
  ];
  assert.deepEqual(tools.map(({ name }) => name).toSorted(), BROWSER_TOOLS.toSorted());
});
