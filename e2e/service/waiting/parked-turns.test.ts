import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eq, like } from "drizzle-orm";
import { elicitations, engineEvents, engineRuns, outbox, runs, steps } from "#db/schema/index.ts";
import { resendLostRuns } from "#lib/session/jobs/resend-lost-runs.ts";
import { endOverdueWaits, wakeRun } from "#lib/session/waiting/waiting.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents, readStatus } from "../turn/turn-testing.ts";
import {
  answer,
  ask,
  beforeParking,
  checkWakes,
  holdJobs,
  readQuestions,
  readResults,
  readRun,
  sayAsPerson,
  script,
  startParked,
  startTurn,
  untilParked,
} from "./waiting-testing.ts";

let service: TestService;

before(async () => {
  service = await openTestService({ SANDBOX: "unconfined" });
});
after(() => service.close());

const DAY_MS = 86_400_000;
const shell = (command: string) => ({ name: "run_shell", arguments: { command } });

describe("a turn that asks a person", () => {
  it("is parked until the answer arrives, and continues as the same run", async () => {
    const session = await startParked(service);
    const { sessionId, turn } = session;
    const { db } = service.container.services;
    const readEngine = () =>
      db
        .select({ state: engineRuns.state, output: engineRuns.output })
        .from(engineRuns)
        .innerJoin(engineEvents, eq(engineEvents.id, engineRuns.eventId))
        .where(like(engineEvents.id, `${turn.runId}:%`));
    await waitUntil(async () => (await readEngine())[0]?.state === "completed", "the function run has ended");
    assert.deepEqual((await readEngine())[0]?.output, { status: "parked" });

    const status = await readStatus(service, sessionId);
    assert.deepEqual([status.turnState, status.activeRunId], ["running", turn.runId]);
    const { since, until, ...waitingOn } = status.waitingOn ?? {};
    assert.deepEqual(waitingOn, { kind: "person", ids: session.ids });
    const openMs = Date.parse(until ?? "") - Date.parse(since ?? "");
    assert.ok(Math.abs(openMs - DAY_MS) < 10_000, `open for ${openMs} ms`);
    const requestStatus = await service.read<{ status: string }>(turn.statusUrl);
    assert.equal(requestStatus.status, "running");

    assert.equal(await answer(service, session, session.ids[0]), 202);
    await service.completed(turn.statusUrl);
    const { outcome, wakes, events } = await checkWakes(service, session);
    assert.deepEqual([outcome, wakes], ["succeeded", ["settled"]]);
    assert.deepEqual(
      events.map(({ kind }) => kind).filter((kind) => kind !== "message.completed"),
      [
        "run.started",
        "tool.call",
        "elicitation.requested",
        "turn.waiting",
        "run.waiting",
        "elicitation.resolved",
        "turn.resumed",
        "run.resumed",
        "tool.result",
        "run.completed",
      ],
    );
    assert.deepEqual(only(events, "turn.waiting")[0]?.waitingOn, status.waitingOn);
    assert.deepEqual(await readResults(service, session), ["The person answered: red"]);
    const after = await readStatus(service, sessionId);
    assert.deepEqual([after.turnState, after.waitingOn], ["idle", null]);
    assert.equal(await answer(service, session, session.ids[0], "blue"), 409);
  });

  it("runs the other calls of the message first, and continues when all questions are answered", async () => {
    const session = await startParked(service, [ask("First?"), ask("Second?"), shell("echo other")]);
    const [first, second] = session.ids;
    assert.equal((await readResults(service, session)).length, 1, "the command has run");
    assert.deepEqual((await readStatus(service, session.sessionId)).waitingOn?.ids, [first, second]);

    const before = service.model.requests.length;
    await answer(service, session, second, "2");
    await waitUntil(
      async () => (await readResults(service, session)).includes("The person answered: 2"),
      "the second call has its result",
    );
    await untilParked(service, session);
    assert.deepEqual((await readStatus(service, session.sessionId)).waitingOn?.ids, [first]);
    assert.equal(service.model.requests.length, before, "the model is not called before both answers");
    await answer(service, session, first, "1");
    await service.completed(session.turn.statusUrl);
    const { wakes } = await checkWakes(service, session);
    assert.deepEqual(wakes, ["settled", "settled"]);
    assert.equal(service.model.requests.length, before + 1);
  });

  it("can also be asked by the retry of a person's turn, but not by that of a program's turn", async () => {
    const failed = { status: 503, message: "overloaded", headers: { "retry-after-ms": "10" } };
    const answers = [failed, { toolCalls: [ask("Which colour?")] }, { text: "Done." }];
    const scriptSteps = (task: string) => {
      const left = [...answers];
      service.model.respondWith(({ userText }) => (userText.includes(task) ? left.shift() : undefined));
    };
    const session = await startTurn(service, []);
    await service.completed(session.turn.statusUrl);
    scriptSteps("ask me");
    const turn = await sayAsPerson(service, session, { text: "ask me" });
    await waitUntil(
      async () => (await readStatus(service, session.sessionId)).waitingOn?.kind === "person",
      "the retry waits for the answer",
    );
    const { activeRunId, waitingOn } = await readStatus(service, session.sessionId);
    assert.notEqual(activeRunId, turn.runId, "the retry is a run of its own");
    assert.equal(await answer(service, session, waitingOn?.ids[0]), 202);
    await service.completed(turn.statusUrl);

    scriptSteps("ask nobody");
    const program = await service.create("ask nobody");
    await service.completed(program.statusUrl);
    const [result] = only(await readEvents(service, program.sessionId), "tool.result");
    assert.match(result?.preview ?? "", /^No person can answer/);
  });

  it("with a form accepts only a valid answer, and otherwise names the field and stays open", async () => {
    const form = {
      properties: {
        email: { type: "string", format: "email", title: "Email" },
        size: { type: "string", enum: ["S", "M"] },
        count: { type: "integer", minimum: 1 },
        gift: { type: "boolean", default: false },
        extras: { type: "array", items: { enum: ["card", "wrap"] } },
        day: { type: "string", format: "date" },
      },
      required: ["email", "size"],
    };
    const session = await startParked(service, [ask("Where to?", { form })]);
    const path = `/api/sessions/${session.sessionId}/elicitations`;
    const post = async (value: unknown) => {
      const response = await service.call("POST", `${path}/${session.ids[0]}`, { answer: value });
      return [response.status, ((await response.json()) as { error?: string }).error];
    };
    assert.deepEqual(await post("Ada"), [
      400,
      "answer: must be an object with the fields of the form: email, size, count, gift, extras, day",
    ]);
    for (const [value, error] of [
      [{ size: "S" }, "answer.email: is required"],
      [{ email: "ada", size: "S" }, "answer.email: must be an email address"],
      [{ email: { a: 1 }, size: "S" }, "answer.email: must be text"],
      [{ email: null, size: "S" }, "answer.email: is required"],
      [{ email: "a@b.co", size: "L" }, "answer.size: must be one of: S, M"],
      [{ email: "a@b.co", size: "S", count: 0 }, "answer.count: must be at least 1"],
      [{ email: "a@b.co", size: "S", day: "2026-02-30" }, "answer.day: must be a date such as 2026-03-31"],
      [
        { email: "a@b.co", size: "S", extras: ["bow"] },
        'answer.extras: must only have choices of the form, not "bow"',
      ],
      ["", "answer: must not be empty"],
      [7, "answer: must be a string"],
      [{ email: "a@b.co", size: "S", "a b": 1 }, 'answer["a b"]: is not a field of the form'],
    ])
      assert.deepEqual(await post(value), [400, error]);
    const listed = await service.read<{ data: { state: string; form: unknown }[] }>(path);
    assert.equal(listed.data[0]?.state, "open");
    assert.deepEqual(listed.data[0]?.form, { type: "object", ...form });
    assert.notEqual((await readStatus(service, session.sessionId)).waitingOn, null);
    const value = { email: "ada@shop.example", size: "M", extras: ["card"], day: "2026-12-24" };
    assert.deepEqual(await post(value), [202, undefined]);
    await service.completed(session.turn.statusUrl);
    assert.deepEqual(await readResults(service, session), [`The person answered: ${JSON.stringify(value)}`]);
    const after = await service.read<{ data: { state: string; answer: unknown }[] }>(path);
    assert.deepEqual([after.data[0]?.state, after.data[0]?.answer], ["answered", value]);
  });

  it("continues when the person declines", async () => {
    const session = await startParked(service);
    assert.equal(await answer(service, session, session.ids[0], null), 202);
    await service.completed(session.turn.statusUrl);
    assert.match((await readResults(service, session))[0] ?? "", /^The person declined/);
  });

  it("does not ask again when its retry follows a failure after the answer", async () => {
    const session = await startTurn(service, [
      { toolCalls: [ask("Which colour?")] },
      { status: 500, message: "overloaded" },
      { text: "Done." },
    ]);
    let failed = false;
    service.model.respondWith(({ answersSoFar }) => {
      if (answersSoFar === 0) return { toolCalls: [ask("Which colour?")] };
      if (failed) return { text: "Red, then." };
      failed = true;
      return { status: 500, message: "overloaded" };
    });
    await untilParked(service, session);
    const [question] = await readQuestions(service, session);
    await answer(service, session, question?.id);
    await service.completed(session.turn.statusUrl);
    assert.equal((await readQuestions(service, session)).length, 1);
    const ends = only(await readEvents(service, session.sessionId), "run.completed").slice(1);
    assert.deepEqual(
      ends.map(({ outcome }) => outcome),
      ["errored", "succeeded"],
    );
  });
});

describe("messages and a parked turn", () => {
  it("an external steer is queued behind a parked turn", async () => {
    const session = await startParked(service);
    const path = `/api/sessions/${session.sessionId}/agent/messages`;
    const posted = await service.call("POST", path, { text: "steer from outside", mode: "steer" });
    assert.equal(((await posted.json()) as { queued: boolean }).queued, true);
    const { runId } = session.turn;
    assert.equal((await readStatus(service, session.sessionId)).activeRunId, runId);
    assert.notEqual((await readRun(service, session)).parkedAt, null);
    await answer(service, session, session.ids[0]);
    await service.completed(session.turn.statusUrl);
    assert.deepEqual((await checkWakes(service, session)).wakes, ["settled"]);
    await waitUntil(
      async () => (await readStatus(service, session.sessionId)).turnState === "idle",
      "the message was played",
    );
  });

  it("a person's steer withdraws the question, is read, and may be followed by another question", async () => {
    const session = await startParked(service);
    // The script starts with the first step again, because the scripted model counts its answers since the last user
    // message and the steer is a new user message.
    script(service, [{ toolCalls: [ask("Which size?")] }, { text: "Done." }]);
    const steer = await sayAsPerson(service, session, { text: "Never mind the colour", mode: "steer" });
    assert.equal(steer.runId, session.turn.runId);
    await waitUntil(async () => (await readQuestions(service, session)).length === 2, "the turn asks again");
    await untilParked(service, session);
    assert.match((await readResults(service, session))[0] ?? "", /^Interrupted by a message/);
    assert.match(service.model.requests.at(-1)?.userText ?? "", /Never mind the colour/);
    assert.equal(await answer(service, session, session.ids[0]), 409);
    const [, size] = await readQuestions(service, session);
    await answer(service, session, size?.id, "M");
    await service.completed(session.turn.statusUrl);
    await service.completed(steer.statusUrl);
    const { wakes, events } = await checkWakes(service, session);
    assert.deepEqual(wakes, ["message", "settled"]);
    assert.deepEqual(
      only(events, "elicitation.resolved").map(({ state }) => state),
      ["withdrawn", "answered"],
    );
  });

  for (const how of ["a stop", "an interrupt"] as const)
    it(`${how} ends the wait at once, withdraws the question and settles the call`, async () => {
      const session = await startParked(service);
      script(service, [{ text: "Something else." }]);
      const next =
        how === "an interrupt"
          ? await sayAsPerson(service, session, { text: "Do something else", mode: "interrupt" })
          : undefined;
      if (!next) await service.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`);
      await service.completed(session.turn.statusUrl);
      const { outcome, wakes, events } = await checkWakes(service, session);
      assert.deepEqual([outcome, wakes], ["cancelled", ["stopped"]]);
      assert.deepEqual(
        only(events, "elicitation.resolved").map(({ state }) => state),
        ["withdrawn"],
      );
      assert.match((await readResults(service, session))[0] ?? "", /^Stopped/);
      if (next) await service.completed(next.statusUrl);
      assert.equal((await readStatus(service, session.sessionId)).turnState, "idle");
    });

  it("a stop works without the engine", async () => {
    const session = await startParked(service);
    await holdJobs(service, async () => {
      await service.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`);
      await service.completed(session.turn.statusUrl);
    });
    assert.equal((await checkWakes(service, session)).outcome, "cancelled");
  });

  it("a session with a parked turn is deleted like any other", async () => {
    const session = await startParked(service);
    const path = `/api/sessions/${session.sessionId}`;
    assert.equal((await service.call("DELETE", path)).status, 200);
    assert.equal((await service.call("GET", path)).status, 404);
  });
});

describe("races of a parked turn", () => {
  it("an answer that arrives before the turn is parked prevents the parking", async () => {
    const session = await beforeParking(service, async (started, id) => {
      assert.equal(await answer(service, started, id), 202);
    });
    assert.deepEqual((await checkWakes(service, session)).wakes, []);
    assert.ok((await readResults(service, session)).includes("The person answered: red"));
  });

  it("a steer that arrives before the turn is parked is read at once", async () => {
    const session = await beforeParking(service, async (started) => {
      script(service, [{ text: "Done." }]);
      await sayAsPerson(service, started, { text: "Forget it", mode: "steer" });
    });
    assert.deepEqual((await checkWakes(service, session)).wakes, []);
    assert.equal((await readQuestions(service, session))[0]?.state, "withdrawn");
  });

  it("a stop that arrives before the turn is parked ends it and withdraws the question", async () => {
    const session = await beforeParking(service, async (started) => {
      await service.call("POST", `/api/sessions/${started.sessionId}/agent/cancel`);
    });
    const { outcome, wakes } = await checkWakes(service, session);
    assert.deepEqual([outcome, wakes], ["cancelled", []]);
    assert.equal((await readQuestions(service, session))[0]?.state, "withdrawn");
  });

  it("simultaneous answers to several questions are all stored, and one of them wakes the turn", async () => {
    const questions = ["a", "b", "c", "d"].map((name) => ask(name));
    const session = await startParked(service, questions);
    await holdJobs(service, async () => {
      const statuses = await Promise.all(
        session.ids.map((id, index) => answer(service, session, id, `${index}`)),
      );
      assert.deepEqual(statuses, [202, 202, 202, 202]);
    });
    await service.completed(session.turn.statusUrl);
    assert.deepEqual((await checkWakes(service, session)).wakes, ["settled"]);
    assert.deepEqual(
      (await readResults(service, session)).toSorted(),
      ["0", "1", "2", "3"].map((value) => `The person answered: ${value}`),
    );
  });

  it("one of many simultaneous answers to a question is accepted", async () => {
    const session = await startParked(service);
    const values = Array.from({ length: 8 }, (_, index) => `${index}`);
    const statuses = await Promise.all(
      values.map((value) => answer(service, session, session.ids[0], value)),
    );
    assert.deepEqual(statuses.toSorted(), [202, ...Array(7).fill(409)]);
    await service.completed(session.turn.statusUrl);
    const accepted = values[statuses.indexOf(202)];
    assert.deepEqual(await readResults(service, session), [`The person answered: ${accepted}`]);
    assert.deepEqual((await checkWakes(service, session)).wakes, ["settled"]);
  });

  it("an answer after a stop is refused, and an answer before a stop stays stored", async () => {
    const late = await startParked(service);
    const { db } = service.container.services;
    // Stores a stop request directly, to simulate another process that has not ended the turn yet.
    await db.update(runs).set({ cancelRequestedAt: new Date() }).where(eq(runs.id, late.turn.runId));
    assert.equal(await answer(service, late, late.ids[0]), 409);
    await service.call("POST", `/api/sessions/${late.sessionId}/agent/cancel`);
    await service.completed(late.turn.statusUrl);
    assert.equal((await checkWakes(service, late)).outcome, "cancelled");

    const early = await startParked(service);
    await holdJobs(service, async () => {
      assert.equal(await answer(service, early, early.ids[0]), 202);
      await service.call("POST", `/api/sessions/${early.sessionId}/agent/cancel`);
    });
    await service.completed(early.turn.statusUrl);
    const { outcome, wakes } = await checkWakes(service, early);
    assert.deepEqual([outcome, wakes], ["cancelled", ["settled"]]);
    assert.equal((await readQuestions(service, early))[0]?.state, "answered");
  });

  for (const endedBy of ["message", "deadline"] as const)
    it(`an answer is refused after a ${endedBy} has ended the wait, also before the turn continues`, async () => {
      const session = await startParked(service);
      if (endedBy === "message") script(service, [{ text: "Done." }]);
      await holdJobs(service, async () => {
        if (endedBy === "message") await sayAsPerson(service, session, { text: "By the way", mode: "steer" });
        else await endOverdue(session);
        assert.equal(await answer(service, session, session.ids[0]), 409);
      });
      await service.completed(session.turn.statusUrl);
      assert.deepEqual((await checkWakes(service, session)).wakes, [endedBy]);
      const state = endedBy === "message" ? "withdrawn" : "unanswered";
      assert.equal((await readQuestions(service, session))[0]?.state, state);
    });

  it("an answer that was accepted before a steer counts, and the steer is read too", async () => {
    const session = await startParked(service);
    script(service, [{ text: "Done." }]);
    await holdJobs(service, async () => {
      assert.equal(await answer(service, session, session.ids[0]), 202);
      await sayAsPerson(service, session, { text: "By the way", mode: "steer" });
    });
    await service.completed(session.turn.statusUrl);
    assert.deepEqual((await checkWakes(service, session)).wakes, ["settled"]);
    assert.deepEqual(await readResults(service, session), ["The person answered: red"]);
    assert.match(service.model.requests.at(-1)?.userText ?? "", /By the way/);
  });

  it("an answer after the deadline is refused, also before the sweep", async () => {
    const session = await startParked(service);
    const { db } = service.container.services;
    const { runId } = session.turn;
    await db.update(elicitations).set({ expiresAt: new Date() }).where(eq(elicitations.runId, runId));
    assert.equal(await answer(service, session, session.ids[0]), 409);
    await service.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`);
    await service.completed(session.turn.statusUrl);
  });

  it("a question is unanswered after its deadline, and the turn continues without an answer", async () => {
    const session = await startParked(service);
    const { db, log, jobs, logger } = service.container.services;
    assert.equal(await endOverdueWaits({ db, log, jobs, logger }, new Date(Date.now() + DAY_MS - 60_000)), 0);
    await endOverdue(session);
    await service.completed(session.turn.statusUrl);
    assert.match((await readResults(service, session))[0] ?? "", /No person answered in time/);
    assert.equal(await answer(service, session, session.ids[0]), 409);
    assert.deepEqual((await checkWakes(service, session)).wakes, ["deadline"]);
  });

  /** Ends the wait of a turn in the way the sweep does after the wait's deadline. */
  async function endOverdue({ sessionId, turn: { runId } }: { sessionId: string; turn: { runId: string } }) {
    const { log, jobs } = service.container.services;
    const woken = await wakeRun({ log }, { sessionId, runId }, "deadline");
    assert.equal(woken.length, 1);
    jobs.sendSoon(woken);
  }

  it("duplicate and outdated jobs play nothing", async () => {
    const session = await startParked(service);
    const { turn } = service.container.services;
    const { runId } = session.turn;
    const play = (generation: number) => turn.play({ runId, generation, player: "a second one" });
    assert.deepEqual(
      await play(1),
      { status: "not_claimable" },
      "the job that was played until the turn was parked",
    );
    assert.deepEqual(await play(2), { status: "not_claimable" }, "the wake that has not happened");
    const { epoch } = await readRun(service, session);
    await answer(service, session, session.ids[0]);
    await service.completed(session.turn.statusUrl);
    assert.deepEqual(await play(2), { status: "not_claimable" });
    assert.equal((await readRun(service, session)).epoch, epoch + 1, "only the wake claimed the run");
    await checkWakes(service, session);
  });

  it("recovery of lost runs skips a parked run, however long it waits", async () => {
    const session = await startParked(service);
    const { db } = service.container.services;
    const lost = await resendLostRuns(db, 40_000, new Date(Date.now() + 7 * DAY_MS));
    assert.deepEqual(
      lost.filter((job) => "runId" in job.data && job.data.runId === session.turn.runId),
      [],
    );
    assert.notEqual((await readRun(service, session)).parkedAt, null);
    await answer(service, session, session.ids[0]);
    await service.completed(session.turn.statusUrl);
    await checkWakes(service, session);
  });

  it("a wake whose job was not sent is sent by the sweep, and played once", async () => {
    const session = await startParked(service);
    const { log, jobs } = service.container.services;
    const { sessionId, turn } = session;
    assert.equal((await wakeRun({ log }, { sessionId, runId: turn.runId }, "deadline")).length, 1);
    await Promise.all([jobs.sweep({ ageMs: 0 }), jobs.sweep({ ageMs: 0 })]);
    await service.completed(turn.statusUrl);
    assert.deepEqual((await checkWakes(service, session)).wakes, ["deadline"]);
  });

  it("a wake whose job the engine has lost is found by recovery, and played once", async () => {
    const session = await startParked(service);
    const { db, log, jobs } = service.container.services;
    const { sessionId, turn } = session;
    const [job] = await wakeRun({ log }, { sessionId, runId: turn.runId }, "deadline");
    // Backdates the job by an hour, so that it looks like a job that the engine has accepted and then lost.
    const sentAt = new Date(Date.now() - 3_600_000);
    await db
      .update(outbox)
      .set({ sentAt })
      .where(eq(outbox.id, job?.id ?? ""));
    const createdAt = sentAt;
    await db.update(runs).set({ createdAt }).where(eq(runs.id, turn.runId));
    const lost = await resendLostRuns(db, 40_000);
    assert.deepEqual(
      lost.map(({ id }) => id),
      [`${turn.runId}:3`],
    );
    jobs.sendSoon(lost);
    await service.completed(turn.statusUrl);
    const recorded = await db.select({ name: steps.name }).from(steps).where(eq(steps.runId, turn.runId));
    assert.equal(recorded.filter(({ name }) => name.startsWith("tool-")).length, 1);
    assert.deepEqual(
      await service.container.services.turn.play({ runId: turn.runId, generation: 2, player: "x" }),
      {
        status: "not_claimable",
      },
    );
  });
});
