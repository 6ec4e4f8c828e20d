import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { startReceiver } from "#e2e/fixtures/receiver.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import type { EngineEvent } from "#inngest/embedded/protocol.ts";
import type { Mode } from "#inngest/testing/call-app.ts";
import { type InngestStandIn, startInngestStandIn } from "#inngest/testing/start-inngest-stand-in.ts";
import type { DomainEvent } from "#lib/events/event.ts";
import { openServedService, type ServedService } from "./real-server-testing.ts";
import { waitUntil } from "./testing.ts";
import { only, readEvents, readStatus } from "./turn/turn-testing.ts";

/**
 * A stand-in for an Inngest server calls the functions of the service over HTTP, with signatures, once with
 * checkpointing and once with replay. It loses, repeats, delays and reorders its calls and events.
 */

let standIn: InngestStandIn;
let service: ServedService;

const VARIABLES = { SANDBOX: "unconfined", CALLBACK_RETRY_BASE_MS: "20", CALLBACK_RETRY_FACTOR: "1" };

const isTurn = (functionId: string) => functionId.endsWith("-run-turn");
const shell = (command: string) => ({ name: "run_shell", arguments: { command } });
/** The steps of a turn. Each command appends a line to a file, so the file shows whether a command ran twice. */
const COUNTED: Step[] = [
  { toolCalls: [shell("echo one >> count.txt"), shell("echo two >> count.txt")] },
  { toolCalls: [shell("echo three >> count.txt; cat count.txt")] },
  { text: "Three lines." },
];

/** Scripts the model. A repeated model call gets the same answer again. */
const answer = (steps: Step[]) =>
  service.model.respondWith(({ answersSoFar }) => steps[Math.min(answersSoFar, steps.length - 1)]);

/** Waits until the request is completed and all function runs of its session's turns have ended. */
async function completed(statusUrl: string): Promise<void> {
  await service.completed(statusUrl);
  const [, sessionId] = /sessions\/([^/]+)/.exec(statusUrl) ?? [];
  const own = () => standIn.runsOf("run-turn").filter(({ event }) => event.data.sessionId === sessionId);
  await waitUntil(() => own().every(hasEnded), "the function runs have ended");
}

const hasEnded = ({ state }: { state: string }) => state !== "running";

/**
 * Checks that each run has one start and one end, and that each tool call has one result.
 *
 * @returns the events of the session.
 */
async function checkLog(sessionId: string): Promise<DomainEvent[]> {
  const events = await readEvents(service, sessionId);
  const starts = only(events, "run.started").map(({ runId }) => runId);
  const ends = only(events, "run.completed").map(({ runId }) => runId);
  assert.equal(new Set(starts).size, starts.length, "a run starts once");
  assert.deepEqual([...ends].sort(), [...starts].sort(), "every run that started ends once");
  const calls = only(events, "tool.call").map(({ toolCallId }) => toolCallId);
  const results = only(events, "tool.result").map(({ toolCallId }) => toolCallId);
  assert.equal(new Set(calls).size, calls.length, "a call has one event");
  assert.deepEqual([...results].sort(), [...calls].sort(), "every call has one result");
  return events;
}

const outcomes = (events: DomainEvent[]) => only(events, "run.completed").map(({ outcome }) => outcome);

async function follow(sessionId: string, text: string) {
  const response = await service.call("POST", `/api/sessions/${sessionId}/agent/messages`, { text });
  assert.equal(response.status, 202);
  return (await response.json()) as { statusUrl: string };
}

/**
 * Plays the turn with the steps `COUNTED`, and checks that each command ran once.
 *
 * @param options.isShared Whether two executors play the turn at the same time. The second takes it over, also while the
 * first runs a command: the outcome of that command is unknown then, and it does not run again.
 */
async function playCounted({ isShared = false } = {}): Promise<DomainEvent[]> {
  answer(COUNTED);
  const session = await service.create("Count to three");
  await completed(session.statusUrl);
  const events = await checkLog(session.sessionId);
  assert.deepEqual(outcomes(events), ["succeeded"]);
  const results = only(events, "tool.result");
  assert.equal(results.length, 3);
  const unknown = results.filter(({ preview }) => preview.startsWith("Outcome unknown"));
  if (isShared && unknown.length > 0) {
    const lines = (await readCount(session.sessionId)).trimEnd().split("\n");
    assert.equal(new Set(lines).size, lines.length, "no command ran twice");
    assert.ok(lines.length >= results.length - unknown.length, "every command with a known outcome ran");
    return events;
  }
  assert.match(service.model.requests.at(-1)?.toolResults.at(-1) ?? "", /one\s+two\s+three/);
  assert.equal(await readCount(session.sessionId), "one\ntwo\nthree\n");
  return events;
}

const readCount = (sessionId: string) =>
  readFile(join(service.dataDir, "workspaces", sessionId, "count.txt"), "utf8");

for (const mode of ["checkpointing", "replay"] satisfies Mode[])
  describe(`a server with ${mode}`, () => {
    before(async () => {
      standIn = await startInngestStandIn({ mode });
      service = await openServedService(standIn, VARIABLES);
    });
    afterEach(() => {
      standIn.set();
      assert.deepEqual(standIn.faults, [], "no request violated the protocol");
    });
    after(async () => {
      await standIn.close();
      await service.close();
    });

    it("plays a turn with tools, each of which runs once", async () => {
      await playCounted();
      const run = standIn.runsOf("run-turn").at(-1);
      assert.equal(run?.state, "completed");
      assert.equal(
        run?.calls === 1,
        mode === "checkpointing",
        "only with checkpointing one call reports all steps",
      );
    });

    it("plays a structured turn with its probe, its work, its structured call and a correction", async () => {
      const values = [{ title: "longer than ten characters" }, { title: "short" }];
      const kinds: string[] = [];
      service.model.respondWith(({ kind, answersSoFar }) => {
        kinds.push(kind);
        if (kind === "probe") return undefined;
        if (kind === "structured") return { json: values.shift() };
        return answersSoFar === 0 ? { toolCalls: [shell("echo x")] } : { text: "Seen." };
      });
      const outputSchema = {
        type: "object",
        properties: { title: { type: "string", maxLength: 10 } },
        required: ["title"],
      };
      const session = await service.create("Give me a title", { outputSchema });
      await completed(session.statusUrl);
      assert.deepEqual(outcomes(await checkLog(session.sessionId)), ["succeeded"]);
      const { deliverable } = await readStatus(service, session.sessionId);
      assert.deepEqual([deliverable?.status, deliverable?.value], ["ready", { title: "short" }]);
      assert.deepEqual(kinds, ["probe", "turn", "turn", "structured", "structured"]);
    });

    it("plays a chain of retries, each as a new run after its wait", async () => {
      const failures: Step[] = [
        { status: 500, message: "overloaded" },
        { status: 429, message: "slow down", headers: { "retry-after": "1" } },
      ];
      service.model.respondWith(() => failures.shift() ?? { text: "Better now." });
      const session = await service.create("Fail twice");
      const since = Date.now();
      await completed(session.statusUrl);
      assert.ok(Date.now() - since >= 1_000, "the retry waits for Retry-After");
      assert.deepEqual(outcomes(await checkLog(session.sessionId)), ["errored", "errored", "succeeded"]);
    });

    it("delivers a callback that is refused at first, with waits between the attempts", async () => {
      const receiver = await startReceiver([500, 503, 200]);
      answer([{ text: "Done." }]);
      const session = await service.create("Call me back", {
        callback: { url: receiver.url, events: ["run.completed"] },
      });
      await completed(session.statusUrl);
      await waitUntil(() => standIn.runsOf("deliver-callback").every(hasEnded), "the callback is delivered");
      await receiver.close();
      assert.equal(receiver.received.length, 3);
      assert.equal(new Set(receiver.received.map(({ body }) => body.toString())).size, 1, "the same bytes");
      assert.deepEqual(standIn.runsOf("deliver-callback").at(-1)?.state, "completed");
    });

    it("ends a turn that is cancelled during a model call, and plays the next", async () => {
      service.model.respondWith(({ userText }) =>
        userText.includes("stop") ? { text: "On and on.", hold: new Promise(() => {}) } : { text: "Next." },
      );
      const session = await service.create("stop me");
      await service.model.waitForRequest(({ userText }) => userText.includes("stop me"));
      await service.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`);
      const next = await follow(session.sessionId, "go on");
      await completed(next.statusUrl);
      assert.deepEqual(outcomes(await checkLog(session.sessionId)), ["cancelled", "succeeded"]);
    });

    it("ends a chain of retries that is cancelled during its wait", async () => {
      answer([{ status: 503, message: "overloaded", headers: { "retry-after": "60" } }]);
      const session = await service.create("Sleep and stop");
      await waitUntil(
        async () => (await readStatus(service, session.sessionId)).lastRun?.outcome === "errored",
        "the retry sleeps",
      );
      await service.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`);
      await service.completed(session.statusUrl);
      const events = await readEvents(service, session.sessionId);
      assert.deepEqual(outcomes(events), ["errored", "cancelled"]);
      assert.equal((await readStatus(service, session.sessionId)).turnState, "idle");
    });

    it("repeats calls whose answer was lost, and no command runs again", async () => {
      standIn.set({ chooseDeliveryFault: () => ({ kind: "answer-lost" }) });
      await playCounted();
    });

    it("sends every call twice at the same time, and no command runs twice", async () => {
      standIn.set({ chooseDeliveryFault: () => ({ kind: "twice" }) });
      await playCounted({ isShared: true });
    });

    it("cannot reach the app at every other call, and no command runs twice", async () => {
      standIn.set({
        chooseDeliveryFault: ({ number }) => (number % 2 === 1 ? { kind: "refused" } : undefined),
      });
      await playCounted();
    });

    it("aborts a call during a model call and repeats it while the app continues the first", async () => {
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      let calls = 0;
      service.model.respondWith(({ answersSoFar }) => {
        // The first model call gets its answer only after the second call, when the answer is too late.
        if (++calls === 2) setTimeout(release, 50);
        return calls === 1 ? { ...COUNTED[0], hold: held } : COUNTED[answersSoFar];
      });
      const isAsked = service.model.waitForRequest(({ userText }) => userText.includes("Count while"));
      standIn.set({
        chooseDeliveryFault: ({ functionId }) =>
          isTurn(functionId) && calls === 0 ? { kind: "given-up", after: isAsked } : undefined,
      });
      const session = await service.create("Count while given up");
      await completed(session.statusUrl);
      assert.deepEqual(outcomes(await checkLog(session.sessionId)), ["succeeded"]);
      assert.equal(await readCount(session.sessionId), "one\ntwo\nthree\n");
    });

    it("starts two function runs for one job, as after it has forgotten the job's id, and the turn is played once", async () => {
      standIn.set({ deliver: (events) => [...events, ...events] });
      await playCounted({ isShared: true });
      const runs = standIn.runsOf("run-turn").slice(-2);
      assert.equal(runs[0]?.event.id, runs[1]?.event.id);
    });

    it("delivers jobs late, repeatedly and reordered, and follow-ups are played once each, in order", async () => {
      const delayed: EngineEvent[] = [];
      standIn.set({
        deliver(events) {
          delayed.push(...events);
          return [];
        },
      });
      service.model.respondWith(({ userText }) => ({ text: `Received: ${userText}` }));
      const session = await service.create("first");
      const followUps = [];
      for (const text of ["second", "third", "fourth"]) followUps.push(await follow(session.sessionId, text));
      await waitUntil(() => delayed.length > 0, "the first job is on its way");
      standIn.set({ deliver: (events) => [...events, ...delayed, ...events] });
      standIn.arrive([...delayed].reverse());
      for (const { statusUrl } of followUps) await completed(statusUrl);
      const events = await checkLog(session.sessionId);
      const replies = only(events, "message.completed").flatMap(({ message }) =>
        message.role === "assistant" ? [JSON.stringify(message.parts)] : [],
      );
      assert.equal(replies.length, 4);
      for (const [at, word] of ["first", "second", "third", "fourth"].entries())
        assert.match(replies[at] ?? "", new RegExp(`Received: ${word}`));
    });

    it("lets the SDK read a state that is too large for a call from the API", async () => {
      const before = standIn.readStateReads();
      standIn.set({ stateBytesMax: 0 });
      await playCounted();
      assert.ok(standIn.readStateReads() > before);
    });

    it("gets step outputs far below its limits, also if a tool prints a lot", async () => {
      answer([{ toolCalls: [shell("head -c 300000 /dev/zero | tr '\\0' x")] }, { text: "Long." }]);
      const session = await service.create("Print a lot");
      await completed(session.statusUrl);
      await checkLog(session.sessionId);
      const run = standIn.runsOf("run-turn").at(-1);
      const bytes = [...(run?.steps.values() ?? [])].map((step) => JSON.stringify(step).length);
      assert.ok(Math.max(0, ...bytes) < 4_096, `the largest step output has ${Math.max(...bytes)} bytes`);
    });

    it("must sign its calls, and appears in the readiness", async () => {
      const url = `${service.env.baseUrl}/api/inngest?fnId=agent-session-service-run-turn&stepId=step`;
      const forged = await fetch(url, { method: "POST", body: JSON.stringify({ event: {}, ctx: {} }) });
      assert.equal(forged.status, 401);
      const { checks } = await service.read<{ checks: { engine: { ok: boolean; detail: string } } }>(
        "/api/ready",
      );
      assert.equal(checks.engine.ok, true);
      assert.match(checks.engine.detail, /^Inngest at http/);
    });

    it("continues a turn during which the app was restarted", async () => {
      const held = new Promise<void>(() => {});
      service.model.respondWith(({ answersSoFar }) =>
        answersSoFar === 1 ? { text: "Held.", hold: held } : COUNTED[answersSoFar],
      );
      const session = await service.create("Count over a restart");
      await service.model.waitForRequest(
        ({ answersSoFar, userText }) => answersSoFar === 1 && userText.includes("restart"),
      );
      const { dataDir } = service;
      await service.close({ keepFiles: true });
      // With this budget, each call of the Inngest function plays only one step of the turn.
      service = await openServedService(standIn, { ...VARIABLES, TURN_BUDGET_MS: "1" }, dataDir);
      answer(COUNTED);
      await completed(session.statusUrl);
      assert.deepEqual(outcomes(await checkLog(session.sessionId)), ["succeeded"]);
      assert.equal(await readCount(session.sessionId), "one\ntwo\nthree\n");
    });

    it("plays a turn in many short calls, also if answers are lost or the app is unreachable", async () => {
      standIn.set({
        chooseDeliveryFault: ({ number }) =>
          [{ kind: "answer-lost" } as const, { kind: "refused" } as const][number % 3],
      });
      await playCounted();
      const run = standIn.runsOf("run-turn").at(-1);
      assert.ok((run?.steps.size ?? 0) >= 2, "the turn took more than one step");
    });
  });
