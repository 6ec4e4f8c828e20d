import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { elicitations, runs } from "#db/schema/index.ts";
import type { Step, StepToolCall } from "#e2e/fixtures/scripted-model/types.ts";
import { type TestService, waitUntil } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";

/** Creates a call of the tool `elicit_user_input`. */
export const ask = (question: string, more: Record<string, unknown> = {}) => ({
  name: "elicit_user_input",
  arguments: { question, ...more },
});

type Session = Awaited<ReturnType<TestService["create"]>>;
/** A session, and the turn that a person started in it. */
export type PersonSession = Session & { turn: { requestId: string; runId: string; statusUrl: string } };

/** Posts a message as a person on the session page. */
export async function sayAsPerson(
  service: TestService,
  session: Session,
  body: { text: string; mode?: "queue" | "steer" | "interrupt" },
) {
  const cookie = await enter(service, session);
  const headers = { cookie, origin: service.env.baseUrl, authorization: "" };
  const answer = await service.call("POST", `/s/${session.sessionId}/actions/messages`, body, headers);
  assert.equal(answer.status, 202, await answer.clone().text());
  return (await answer.json()) as PersonSession["turn"] & { queued: boolean };
}

async function enter(service: TestService, { shareUrl }: Session): Promise<string> {
  const entered = await service.container.exchangeLinkForCookie({
    method: "GET",
    url: new URL(shareUrl, service.env.baseUrl),
    cookieHeader: null,
  });
  assert.ok(entered instanceof Response);
  return entered.headers.get("set-cookie")?.split(";")[0] ?? "";
}

/**
 * Scripts the model. It answers "Hello." in the first turn of a session. In every other turn, it takes these steps and
 * then answers "Done.".
 */
export const script = (service: TestService, steps: Step[]) =>
  service.model.respondWith(({ userText, answersSoFar }) =>
    userText.includes("hello") ? { text: "Hello." } : (steps[answersSoFar] ?? { text: "Done." }),
  );

/** Starts a session, and posts a message as a person. The turn of the message takes these steps. */
export async function startTurn(service: TestService, steps: Step[], text = "go"): Promise<PersonSession> {
  script(service, steps);
  const session = await service.create("hello", { capabilities: { browser: false } });
  await service.completed(session.statusUrl);
  return { ...session, turn: await sayAsPerson(service, session, { text }) };
}

/**
 * Starts a session and a turn that asks a person questions. Resolves when the turn is parked (waits for the answers).
 */
export async function startParked(
  service: TestService,
  questions: StepToolCall[] = [ask("Which colour?")],
): Promise<PersonSession & { ids: string[] }> {
  const session = await startTurn(service, [{ toolCalls: questions }]);
  await untilParked(service, session);
  const rows = await readQuestions(service, session);
  return { ...session, ids: rows.map(({ id }) => id) };
}

/** Reads the questions of a session, oldest first. */
export async function readQuestions(service: TestService, { sessionId }: { sessionId: string }) {
  const { db } = service.container.services;
  const rows = await db.select().from(elicitations).where(eq(elicitations.sessionId, sessionId));
  return rows.toSorted((one, other) => one.createdAt.getTime() - other.createdAt.getTime());
}

export async function readRun(service: TestService, { turn }: PersonSession) {
  const [run] = await service.container.services.db.select().from(runs).where(eq(runs.id, turn.runId));
  assert.ok(run);
  return run;
}

export const untilParked = (service: TestService, session: PersonSession) =>
  waitUntil(async () => (await readRun(service, session)).parkedAt !== null, "the turn is parked");

/**
 * Answers a question with an API key; the value null declines the question. @returns the HTTP status of the response.
 */
export async function answer(
  service: TestService,
  { sessionId }: { sessionId: string },
  id: string | undefined,
  value: unknown = "red",
): Promise<number> {
  const path = `/api/sessions/${sessionId}/elicitations/${id}`;
  return (await service.call("POST", path, value === null ? { decline: true } : { answer: value })).status;
}

/** Returns the results of a turn's tool calls, in order. Each result is cut to the length of an event's preview. */
export async function readResults(service: TestService, session: PersonSession): Promise<string[]> {
  const events = await readEvents(service, session.sessionId);
  return only(events, "tool.result")
    .filter(({ runId }) => runId === session.turn.runId)
    .map(({ preview }) => preview);
}

/**
 * Checks a turn that has waited: its run has one start and one end, each tool call has one result, and each
 * `turn.waiting` has one `turn.resumed`. Only the wakes may have raised the run's generation.
 */
export async function checkWakes(service: TestService, session: PersonSession) {
  const events = (await readEvents(service, session.sessionId)).filter(
    (event) => event.runId === session.turn.runId,
  );
  assert.equal(only(events, "run.started").length, 1, "a run starts once");
  const [end, ...others] = only(events, "run.completed");
  assert.deepEqual(others, [], "a run ends once");
  const calls = only(events, "tool.call").map(({ toolCallId }) => toolCallId);
  const results = only(events, "tool.result").map(({ toolCallId }) => toolCallId);
  assert.deepEqual(results.toSorted(), calls.toSorted(), "every call has one result");
  const waits = only(events, "turn.waiting").length;
  const wakes = only(events, "turn.resumed").map(({ reason }) => reason);
  assert.equal(wakes.length, waits, "every wait has one wake");
  const { generation } = await readRun(service, session);
  assert.equal(generation, 1 + wakes.length, "every wake has one job");
  return { outcome: end?.outcome, wakes, events };
}

/** Holds back all jobs while `work` runs. A run that `work` wakes is therefore played only after `work` is done. */
export async function holdJobs<Result>(service: TestService, work: () => Promise<Result>): Promise<Result> {
  const { jobs } = service.container.services;
  const { sendSoon } = jobs;
  const held: Parameters<typeof sendSoon>[0] = [];
  jobs.sendSoon = (all) => void held.push(...all);
  try {
    return await work();
  } finally {
    jobs.sendSoon = sendSoon;
    sendSoon(held);
  }
}

/**
 * Starts a turn that asks a person a question and runs a command in the same step. The command ends only after `work`
 * is done. Therefore, the question is open during `work`, and the turn is not parked yet. Resolves when the turn has
 * completed.
 */
export async function beforeParking(
  service: TestService,
  work: (session: PersonSession, questionId: string) => Promise<void>,
): Promise<PersonSession> {
  const folder = await mkdtemp(join(tmpdir(), "gate-"));
  const gate = join(folder, "open");
  const begun = join(folder, "begun");
  const waiting = `touch ${begun}; until [ -e ${gate} ]; do sleep 0.05; done`;
  const command = { name: "run_shell", arguments: { command: waiting } };
  try {
    const session = await startTurn(service, [{ toolCalls: [ask("Which colour?"), command] }]);
    await waitUntil(() => existsSync(begun), "the command runs, which begins after the question");
    const [question] = await readQuestions(service, session);
    await work(session, question?.id ?? "");
    await writeFile(gate, "");
    await service.completed(session.turn.statusUrl);
    return session;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
