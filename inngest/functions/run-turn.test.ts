import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openTestDatabase } from "#db/testing.ts";
import { createManualClock, createTestProcess, isQuiet, readRuns, until } from "#inngest/embedded/testing.ts";
import type { Played } from "#lib/turn/play-turn.ts";
import { StaleClaimError } from "#lib/turn/record/claim.ts";
import type { TurnService } from "#lib/turn/turn-service.ts";
import { createRunTurn } from "./run-turn.ts";

let database: Awaited<ReturnType<typeof openTestDatabase>>;

before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

/** Plays a run on an engine. Each `play` of the turn returns or throws the next answer. @returns the calls of the turn. */
async function playRun(answers: (Played | Error)[], playsMax?: number, isPlayer = false) {
  const calls: string[] = [];
  const left = [...answers];
  const process = createTestProcess(database.db, { clock: createManualClock(Date.now()) });
  const turn: Pick<TurnService, "play" | "isPlayer" | "handOver" | "abandon"> = {
    isPlayer: async () => isPlayer,
    async play() {
      calls.push("play");
      const answer = left.shift() ?? { status: "ended" };
      if (answer instanceof Error) throw answer;
      return answer;
    },
    async handOver(runId, generation) {
      calls.push(`hand over ${runId}:${generation}`);
      const data = { runId, sessionId: "ses_a", generation: generation + 1 };
      await process.client.send({ name: "turn/run.requested", id: `${runId}:${generation + 1}`, data });
    },
    async abandon(_job, reason) {
      calls.push(`abandon: ${reason}`);
    },
  };
  await process.start([createRunTurn(process.client, turn, playsMax)]);
  const runId = `run_${crypto.randomUUID()}`;
  const data = { runId, sessionId: "ses_a", generation: 1 };
  await process.client.send({ name: "turn/run.requested", id: `${runId}:1`, data });
  const isOver = async () => {
    // Retries wait until this clock is advanced.
    process.clock.advance(60_000);
    return isQuiet(database.db);
  };
  await until(isOver, "the function runs have ended");
  await process.engine.stop({ graceMs: 1_000 });
  return calls.map((each) => each.replace(runId, "run"));
}

describe("the function that plays a run", () => {
  it("continues after each pause, until the run has ended", async () => {
    assert.deepEqual(await playRun([{ status: "paused" }, { status: "paused" }, { status: "ended" }]), [
      "play",
      "play",
      "play",
    ]);
  });

  it("waits for a retry that is not due", async () => {
    assert.deepEqual(await playRun([{ status: "later", delayMs: 300_000 }, { status: "ended" }]), [
      "play",
      "play",
    ]);
  });

  it("plays again after a play failed", async () => {
    assert.deepEqual(await playRun([new Error("connection lost"), { status: "ended" }]), ["play", "play"]);
  });

  it("ends at once if another function run has claimed the run, and does not abandon it", async () => {
    const before = (await readRuns(database.db)).length;
    assert.deepEqual(await playRun([new StaleClaimError({ runId: "run_a", epoch: 1 })]), ["play"]);
    assert.equal((await readRuns(database.db))[before]?.state, "failed");
  });

  it("plays again if a duplicate call of the same function run has claimed the run", async () => {
    const own = new StaleClaimError({ runId: "run_a", epoch: 2 });
    assert.deepEqual(await playRun([own, { status: "not_claimable" }], undefined, true), ["play", "play"]);
  });

  it("abandons a run that it cannot play", async () => {
    const failures = Array.from({ length: 11 }, () => new Error("connection lost"));
    const calls = await playRun(failures);
    assert.equal(calls.filter((each) => each === "play").length, 11);
    assert.equal(calls.at(-1), "abandon: connection lost");
  });

  it("hands over to a new function run before the engine's limit of steps", async () => {
    const paused: Played[] = Array.from({ length: 7 }, () => ({ status: "paused" }));
    assert.deepEqual(await playRun(paused, 3), [
      "play",
      "play",
      "play",
      "hand over run:1",
      "play",
      "play",
      "play",
      "hand over run:2",
      "play",
      "play",
    ]);
  });
});
