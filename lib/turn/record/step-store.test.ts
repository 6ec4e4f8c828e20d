import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { eq } from "drizzle-orm";
import {
  browsers,
  landingPages,
  outbox,
  reports,
  requests,
  runs,
  sessions,
  steps,
  toolCalls,
  variants,
} from "#db/schema/index.ts";
import type { FollowUpMode } from "#db/schema/unions.ts";
import { openTestDatabase } from "#db/testing.ts";
import { BROWSER_TOOLS } from "#lib/catalogue/tools.ts";
import { insertFollowUp, lockCounters } from "#lib/session/store/follow-up-store.ts";
import { insertTestSession } from "#lib/session/transcript/transcript-fixture.ts";
import { browserTools } from "#lib/tools/browser/index.ts";
import { peopleTools } from "#lib/tools/questions/index.ts";
import { variantTools } from "#lib/variant/tools/index.ts";
import { claimRunRow } from "./turn-store.ts";
import type { EndWrite } from "./turn-write.ts";
import { writeTurn } from "./write-turn.ts";

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

const LATE_REQUEST = {
  position: 2,
  mode: "queue",
  origin: "external",
  userId: null,
  idempotencyKey: null,
  bodyHash: "hash",
} as const;

/** Creates a session with a first run, and one queued request for each mode. @returns a function that ends the first run. */
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
    const receipt = await writeTurn(db, { sessionId: id, runId, epoch: 0 }, { end, drafts: [] });
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

  test("that has a retry leaves the queue waiting", async () => {
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

test("two steps of one statement get positions in their order", async () => {
  const { runId } = await insertTestSession(db, "ses_pair");
  const stepBefore = {
    name: "model-1",
    output: { kind: "answered" },
    modelMessages: [{ role: "assistant" }],
  };
  const step = { name: "tool-1-call", output: null, modelMessages: [{ role: "tool" }] };
  const receipt = await writeTurn(
    db,
    { sessionId: "ses_pair", runId, epoch: 0 },
    { stepBefore, step, drafts: [] },
  );
  const rows = await db.select().from(steps).where(eq(steps.runId, runId)).orderBy(steps.position);
  assert.deepEqual(
    rows.map(({ position, name, output, modelMessages }) => ({ position, name, output, modelMessages })),
    [
      { position: receipt?.positionBefore, ...stepBefore },
      { position: receipt?.position, ...step },
    ],
  );
});

describe("the claim of a run that was just stored", () => {
  const claim = { player: "fn_1", generation: 1 };
  const start = async (name: string) => {
    const sessionId = `ses_fresh_${name}`;
    const { runId } = await insertTestSession(db, sessionId);
    await db.update(runs).set({ state: "pending" }).where(eq(runs.id, runId));
    return { sessionId, runId };
  };
  const begin = (run: { sessionId: string; runId: string }) => {
    const step = { name: "open", output: {} };
    return writeTurn(
      db,
      { ...run, epoch: 1 },
      { claim, startedAt: new Date(), step, messageSeq: 1, drafts: [] },
      "fresh",
    );
  };

  test("starts it and takes the session, once", async () => {
    const run = await start("plain");
    assert.ok(await begin(run));
    const [row] = await db.select().from(runs).where(eq(runs.id, run.runId));
    assert.deepEqual([row?.state, row?.epoch, row?.player], ["running", 1, "fn_1"]);
    assert.ok(row?.startedAt);
    const [session] = await db.select().from(sessions).where(eq(sessions.id, run.sessionId));
    assert.equal(session?.activeRunId, run.runId);
    assert.equal(await begin(run), undefined);
  });

  const changes: Record<string, (run: { sessionId: string; runId: string }) => Promise<unknown>> = {
    "was claimed": ({ runId }) => db.update(runs).set({ epoch: 1 }).where(eq(runs.id, runId)),
    "was stopped": ({ runId }) =>
      db.update(runs).set({ cancelRequestedAt: new Date() }).where(eq(runs.id, runId)),
    "has a newer job": ({ runId }) => db.update(runs).set({ generation: 2 }).where(eq(runs.id, runId)),
    "has a session with an event": ({ sessionId }) =>
      db.update(sessions).set({ eventSeq: 1 }).where(eq(sessions.id, sessionId)),
    "has a message behind it": ({ sessionId }) =>
      db.update(sessions).set({ queueSeq: 1 }).where(eq(sessions.id, sessionId)),
    "has a session that another run holds": ({ sessionId }) =>
      db.update(sessions).set({ activeRunId: "run_other" }).where(eq(sessions.id, sessionId)),
  };
  for (const [what, change] of Object.entries(changes))
    test(`is refused for a run that ${what}`, async () => {
      const run = await start(what.replaceAll(" ", "_"));
      await change(run);
      assert.equal(await begin(run), undefined);
      const [row] = await db.select().from(runs).where(eq(runs.id, run.runId));
      assert.equal(row?.state, "pending");
    });
});

describe("the end of a run that is alone", () => {
  const end: EndWrite = { state: "succeeded", error: null, usage, endedAt: new Date(), retry: undefined };
  const start = async (name: string) => {
    const sessionId = `ses_alone_${name}`;
    const { requestId, runId } = await insertTestSession(db, sessionId);
    await db.update(runs).set({ state: "running" }).where(eq(runs.id, runId));
    const endAlone = () => writeTurn(db, { sessionId, runId, epoch: 0 }, { end, drafts: [] }, "alone");
    const readState = async () => (await db.select().from(runs).where(eq(runs.id, runId)))[0]?.state;
    return { sessionId, requestId, runId, endAlone, readState };
  };
  /** Accepts a message for the session in a transaction that stays open. @returns a function that commits it. */
  const accept = async ({ sessionId, runId }: { sessionId: string; runId: string }, joins: boolean) => {
    const id = `req_late_${sessionId}`;
    const accepted = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const committed = db.transaction(async (tx) => {
      await lockCounters(tx, sessionId);
      await insertFollowUp(tx, {
        request: { ...LATE_REQUEST, id, sessionId },
        run: joins ? { joinedId: runId, afterSeq: 0 } : { ownId: `run_late_${sessionId}` },
        messages: [
          {
            id: `msg_late_${sessionId}`,
            sessionId,
            requestId: id,
            seq: null,
            index: 0,
            role: "user",
            parts: [{ type: "text", text: "And?" }],
            author: null,
          },
        ],
        placed: 0,
        job: undefined,
      });
      accepted.resolve();
      await mayCommit.promise;
    });
    await accepted.promise;
    return () => {
      mayCommit.resolve();
      return committed;
    };
  };

  test("is one statement", async () => {
    const run = await start("plain");
    assert.ok(await run.endAlone());
    assert.equal(await run.readState(), "succeeded");
    assert.equal(await run.endAlone(), undefined);
  });

  test("is refused if a stop was requested", async () => {
    const run = await start("stopped");
    await db.update(runs).set({ cancelRequestedAt: new Date() }).where(eq(runs.id, run.runId));
    assert.equal(await run.endAlone(), undefined);
    assert.equal(await run.readState(), "running");
  });

  test("is refused if the session has a variant, a report or a landing page", async () => {
    const usual = { title: "t", version: 1, counts: {}, document: {}, tested: [] };
    const outcomes = {
      variant: (sessionId: string) => db.insert(variants).values({ sessionId, key: "a", revision: 1 }),
      report: (sessionId: string) => db.insert(reports).values({ id: "rep_alone", sessionId, ...usual }),
      page: (sessionId: string) =>
        db
          .insert(landingPages)
          .values({ slug: "alone", ownerId: "own", sessionId, folder: "site", version: 1, newestVersion: 1 }),
    };
    for (const [name, insert] of Object.entries(outcomes)) {
      const run = await start(name);
      await insert(run.sessionId);
      assert.equal(await run.endAlone(), undefined, name);
    }
  });

  for (const joins of [false, true]) {
    const kind = joins ? "joins it" : "waits behind it";
    test(`is refused if a message ${kind}, even one that is committed while the end waits for the session`, async () => {
      const early = await start(`early_${joins}`);
      await (await accept(early, joins))();
      assert.equal(await early.endAlone(), undefined);
      const late = await start(`late_${joins}`);
      const commit = await accept(late, joins);
      const ending = late.endAlone();
      // The end either waits for the lock by now, or starts later and sees the message. It is refused in both cases.
      await new Promise((resolve) => setTimeout(resolve, 100));
      await commit();
      assert.equal(await ending, undefined);
      assert.equal(await late.readState(), "running");
    });
  }

  test("is refused if an event is committed while the end waits for the session", async () => {
    const run = await start("event");
    const mayCommit = Promise.withResolvers<void>();
    const noted = Promise.withResolvers<void>();
    const committed = db.transaction(async (tx) => {
      await tx.update(sessions).set({ eventSeq: 1 }).where(eq(sessions.id, run.sessionId));
      noted.resolve();
      await mayCommit.promise;
    });
    await noted.promise;
    const ending = run.endAlone();
    await new Promise((resolve) => setTimeout(resolve, 100));
    mayCommit.resolve();
    await committed;
    assert.equal(await ending, undefined);
  });
});

describe("a retry that waits", () => {
  const DAYS_2 = 2 * 86_400_000;
  const take = async (name: string, afterMs: number) => {
    const end = await line(name, "queue");
    const retry = { ...retryOf(name), delayMs: 60_000 };
    await end(retry);
    const now = new Date(Date.now() + afterMs);
    return claimRunRow(db, { runId: retry.runId, generation: 1, player: "player", now });
  };

  test("is claimed once it is due", async () => {
    const early = await take("early", 1_000);
    assert.ok(early.status === "later" && early.delayMs > 0 && early.delayMs <= 60_000);
    assert.equal((await take("due", 120_000)).status, "taken");
  });

  test("is claimed at once if the clock was set back or forward by two days since", async () => {
    assert.equal((await take("back", -DAYS_2)).status, "taken");
    assert.equal((await take("forward", DAYS_2)).status, "taken");
  });
});

describe("the page error of a run", () => {
  const names = ["used", "selected", "unused", "reached", "failed"] as const;
  for (const name of names)
    test(`is kept for a run that succeeded and needed a page: ${name}`, async () => {
      const sessionId = `ses_page_${name}`;
      const { runId } = await insertTestSession(db, sessionId);
      const lastError = name === "reached" ? null : "shop.example was not found";
      const desiredUrl = name === "selected" ? "https://shop.example/" : null;
      await db.insert(browsers).values({ sessionId, status: "ready", lastError, desiredUrl });
      await db.insert(toolCalls).values({
        runId,
        sessionId,
        callId: "call",
        resultId: `res_${name}`,
        input: {},
        state: "failed",
        name: name === "unused" || name === "selected" ? "fetch_url" : "screenshot",
        endedAt: new Date(),
      });
      const isFailed = name === "failed";
      const end: EndWrite = {
        usage,
        endedAt: new Date(),
        retry: undefined,
        ...(isFailed ? { state: "errored", error: "busy" } : { state: "succeeded", error: null }),
      };
      await writeTurn(db, { sessionId, runId, epoch: 0 }, { end, drafts: [] });
      const [run] = await db.select().from(runs).where(eq(runs.id, runId));
      assert.equal(run?.pageError, name === "used" || name === "selected" ? lastError : null);
    });
});

test("the names of the browser tools are those of the tools that work on the live browser", () => {
  // Empty dependencies are enough, because the test reads only the descriptions of the tools.
  const tools = [
    ...browserTools({ pages: {} } as Parameters<typeof browserTools>[0]),
    ...variantTools({} as Parameters<typeof variantTools>[0]).filter(({ needs }) => needs === "browser"),
    ...peopleTools({} as Parameters<typeof peopleTools>[0]).filter(({ needs }) => needs === "browser"),
  ];
  assert.deepEqual(tools.map(({ name }) => name).toSorted(), BROWSER_TOOLS.toSorted());
});
