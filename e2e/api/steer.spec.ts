import { expect, test } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { RecordedRequest, ScriptedModel, Step } from "../fixtures/scripted-model/types.ts";
import { type CreatedSession, type RunningService, startService, waitUntil } from "../fixtures/service.ts";
import { expectRefusal } from "./expect-refusal.ts";
import { parseEvents, type StreamedEvent } from "./read-stream.ts";

let service: RunningService;
let model: ScriptedModel;
/**
 * Maps a text to the model's answer to messages that contain this text. The model answers all other messages with
 * "Done.".
 */
const answers = new Map<string, Step>();

test.beforeAll(async () => {
  model = await startScriptedModel();
  model.respondWith(
    (request) => [...answers].find(([text]) => request.userText.includes(text))?.[1] ?? { text: "Done." },
  );
  service = await startService({ OPENAI_BASE_URL: model.baseUrl });
});
test.afterAll(async () => {
  await service.close();
  await model.close();
});

type Accepted = CreatedSession & { queued: boolean };
type Mode = "queue" | "steer" | "interrupt";
type Listed = { role: string; requestId: string; parts: { text: string }[] };

const LOOK: Step = { text: "I look.", toolCalls: [{ name: "list_files", arguments: {} }] };

/** Starts a session. The answer to its first model call is held back until `release` is called. */
async function startTurn(text: string, step: Step = LOOK, fields: Record<string, unknown> = {}) {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  answers.set(text, { ...step, hold: promise });
  const created = await service.create(text, fields);
  await model.waitForRequest(({ userText }) => userText.includes(text));
  return { ...created, release };
}
const say = (sessionId: string, body: unknown) =>
  service.call("POST", `/api/sessions/${sessionId}/agent/messages`, body);
async function sayAs(mode: Mode, sessionId: string, text: string): Promise<Accepted> {
  const response = await say(sessionId, { text, mode });
  expect(response.status).toBe(202);
  return response.json();
}
const statusOf = (path: string) => service.read<{ status: string; runId: string }>(path);
const readStream = async (path: string) => parseEvents(await (await service.call("GET", path)).text());
const stored = (events: StreamedEvent[]) => events.filter(({ id }) => id !== undefined);
const textOf = ({ data }: StreamedEvent) => (data.message as Listed | undefined)?.parts[0]?.text;
const queueOf = async (sessionId: string) =>
  (
    await service.read<{ data: { requestId: string; mode: Mode; text: string }[] }>(
      `/api/sessions/${sessionId}/queue`,
    )
  ).data;
const transcriptOf = async (sessionId: string) =>
  (await service.read<{ data: Listed[] }>(`/api/sessions/${sessionId}/messages?limit=200`)).data.map(
    ({ role, parts }) => [role, parts[0]?.text],
  );
/** Returns the largest number of times that a text appears in a single model call. */
const timesShown = (text: string) =>
  Math.max(0, ...model.requests.map(({ text: shown }: RecordedRequest) => shown.split(text).length - 1));
const shareCookie = async ({ shareUrl }: CreatedSession) => {
  const response = await fetch(service.baseUrl + shareUrl, { redirect: "manual" });
  return response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
};

test.describe("a steer", () => {
  test("is read by the running turn between two steps, shares its run and completes with it", async () => {
    const turn = await startTurn("look around");
    const steer = await sayAs("steer", turn.sessionId, "mind the gap");
    expect(steer).toMatchObject({ runId: turn.runId, queued: true });
    expect(steer.requestId).not.toBe(turn.requestId);
    expect(await statusOf(steer.statusUrl)).toMatchObject({ status: "running", runId: turn.runId });
    expect(await queueOf(turn.sessionId)).toMatchObject([{ mode: "steer", text: "mind the gap" }]);
    expect(await service.read(`/api/sessions/${turn.sessionId}/agent/status`)).toMatchObject({ queued: 1 });
    const live = readStream(steer.streamUrl);
    turn.release();
    await service.completed(steer.statusUrl);

    expect(await statusOf(turn.statusUrl)).toMatchObject({ status: "completed", runId: turn.runId });
    expect(await transcriptOf(turn.sessionId)).toEqual([
      ["user", "look around"],
      ["assistant", "I look."],
      ["user", "mind the gap"],
      ["assistant", "Done."],
    ]);
    expect(await queueOf(turn.sessionId)).toEqual([]);
    expect(timesShown("mind the gap")).toBe(1);
    const events = stored(await readStream(steer.streamUrl));
    expect(stored(await live)).toEqual(events);
    const steered = events.find(({ event }) => event === "turn.steered");
    expect(steered?.data).toMatchObject({ runId: turn.runId, steerRequestId: steer.requestId });
    expect(events.map(textOf)).toContain("mind the gap");
    expect(events.filter(({ event }) => event === "run.completed")).toEqual([events.at(-1)]);
    expect(events.at(-1)?.data).toMatchObject({ runId: turn.runId, outcome: "succeeded" });
    const ofTurn = stored(await readStream(turn.streamUrl));
    expect(ofTurn.slice(-events.length)).toEqual(events);
    expect(ofTurn.length).toBeGreaterThan(events.length);
    const after = await service.call("GET", `${steer.streamUrl}?after=${events.at(-1)?.id}`);
    expect(after.status).toBe(204);
  });

  test("is read before the turn closes if it arrives during the turn's last answer", async () => {
    const turn = await startTurn("answer me", { text: "That is my answer." });
    const steer = await sayAs("steer", turn.sessionId, "one more thing");
    turn.release();
    await service.completed(steer.statusUrl);
    expect((await transcriptOf(turn.sessionId)).map(([, text]) => text)).toEqual([
      "answer me",
      "That is my answer.",
      "one more thing",
      "Done.",
    ]);
    expect(await statusOf(steer.statusUrl)).toMatchObject({ runId: turn.runId });
  });

  test("is queued instead if no turn runs, or if a program sends it during a person's turn", async () => {
    const created = await service.create("soon over");
    await service.completed(created.statusUrl);
    const alone = await sayAs("steer", created.sessionId, "nobody is at work");
    expect(alone.queued).toBe(false);
    expect(alone.runId).not.toBe(created.runId);
    await service.completed(alone.statusUrl);

    const { promise, resolve: release } = Promise.withResolvers<void>();
    answers.set("a person asks", { ...LOOK, hold: promise });
    const headers = { cookie: await shareCookie(created), origin: service.baseUrl };
    const asPerson = (body: unknown) =>
      service.call("POST", `/s/${created.sessionId}/actions/messages`, body, {
        ...headers,
        authorization: "",
      });
    const person = await (await asPerson({ text: "a person asks" })).json();
    await model.waitForRequest(({ userText }) => userText.includes("a person asks"));
    const program = await sayAs("steer", created.sessionId, "a program speaks");
    expect(program.runId).not.toBe(person.runId);
    const own = await (await asPerson({ text: "the person adds", mode: "steer" })).json();
    expect(own.runId).toBe(person.runId);
    expect((await queueOf(created.sessionId)).map(({ mode }) => mode)).toEqual(["steer", "queue"]);
    release();
    await service.completed(program.statusUrl);
    expect((await transcriptOf(created.sessionId)).slice(4).map(([, text]) => text)).toEqual([
      "a person asks",
      "I look.",
      "the person adds",
      "Done.",
      "a program speaks",
      "Done.",
    ]);
  });

  test("gets a turn of its own if the running turn is cancelled before it has read the steer", async () => {
    const turn = await startTurn("never ends");
    const steer = await sayAs("steer", turn.sessionId, "read me anyway");
    const live = readStream(steer.streamUrl);
    await service.call("POST", `/api/sessions/${turn.sessionId}/agent/cancel`);
    await waitUntil(
      async () => (await statusOf(steer.statusUrl)).runId !== turn.runId,
      "the steer has its own run",
    );
    await service.completed(steer.statusUrl);
    expect(await statusOf(turn.statusUrl)).toMatchObject({ status: "completed" });
    expect(timesShown("read me anyway")).toBe(1);
    const events = stored(await live);
    const ends = events.filter(({ event }) => event === "run.completed");
    expect(ends.map(({ data }) => data.outcome)).toEqual(["cancelled", "succeeded"]);
    expect(ends[1]).toBe(events.at(-1));
    expect(stored(await readStream(steer.streamUrl))).toEqual(events);
    turn.release();
  });

  test("is read by the retry if the turn fails and is retried", async () => {
    const failure = { code: "server_error", message: "try again" };
    const turn = await startTurn("breaks once", { text: "I was about to", failure });
    const steer = await sayAs("steer", turn.sessionId, "the second try reads this");
    turn.release();
    await service.completed(steer.statusUrl);
    const { runId } = await statusOf(turn.statusUrl);
    expect(runId).not.toBe(turn.runId);
    expect(await statusOf(steer.statusUrl)).toMatchObject({ status: "completed", runId });
    expect(timesShown("the second try reads this")).toBe(1);
    const ends = stored(await readStream(steer.streamUrl)).filter(({ event }) => event === "run.completed");
    expect(ends.map(({ data }) => data.outcome)).toEqual(["errored", "succeeded"]);
  });

  test("can be edited and removed until it is read; a removed steer completes as cancelled", async () => {
    const turn = await startTurn("edit below");
    const edited = await sayAs("steer", turn.sessionId, "before the edit");
    const removed = await sayAs("steer", turn.sessionId, "not this one");
    const queue = `/api/sessions/${turn.sessionId}/queue`;
    const edit = await service.call("PATCH", `${queue}/${edited.requestId}`, { text: "after the edit" });
    expect(edit.status).toBe(200);
    const live = readStream(removed.streamUrl);
    expect((await service.call("DELETE", `${queue}/${removed.requestId}`)).status).toBe(200);
    expect(await statusOf(removed.statusUrl)).toMatchObject({ status: "completed" });
    const events = stored(await live);
    expect(events.at(-1)?.data).toMatchObject({
      kind: "run.completed",
      requestId: removed.requestId,
      outcome: "cancelled",
    });
    expect(await queueOf(turn.sessionId)).toMatchObject([{ mode: "steer", text: "after the edit" }]);
    turn.release();
    await service.completed(edited.statusUrl);
    expect(stored(await readStream(removed.streamUrl))).toEqual(events);
    expect([timesShown("after the edit"), timesShown("before the edit"), timesShown("not this one")]).toEqual(
      [1, 0, 0],
    );
    const late = "this message no longer waits: its turn has started, or it was removed";
    await expectRefusal(
      await service.call("PATCH", `${queue}/${edited.requestId}`, { text: "late" }),
      409,
      "conflict",
      late,
    );
    await expectRefusal(await service.call("DELETE", `${queue}/${edited.requestId}`), 409, "conflict", late);
  });

  test("is answered with the original ids if its idempotencyKey is replayed", async () => {
    const turn = await startTurn("replay the steer");
    const body = { text: "only once", mode: "steer", idempotencyKey: "steer" };
    const first = await say(turn.sessionId, body);
    const accepted = await first.json();
    const again = await say(turn.sessionId, body);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(await again.json()).toEqual(accepted);
    turn.release();
    await service.completed(accepted.statusUrl);
    const late = await (await say(turn.sessionId, body)).json();
    expect(late).toMatchObject({ requestId: accepted.requestId, runId: accepted.runId });
    expect(timesShown("only once")).toBe(1);
  });

  test("is read exactly once, in the order of acceptance, if 20 arrive at the same time", async () => {
    const turn = await startTurn("steer me a lot");
    const steers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => sayAs("steer", turn.sessionId, `steer no. ${index};`)),
    );
    const waiting = (await queueOf(turn.sessionId)).map(({ text }) => text);
    expect(waiting).toHaveLength(20);
    turn.release();
    for (const { statusUrl } of steers) await service.completed(statusUrl);
    const read = (await transcriptOf(turn.sessionId)).flatMap(([role, text]) =>
      role === "user" ? [text] : [],
    );
    expect(read).toEqual(["steer me a lot", ...waiting]);
    for (let index = 0; index < 20; index++) expect(timesShown(`steer no. ${index};`)).toBe(1);
  });
});

test.describe("an interrupt", () => {
  test("ends the running turn and starts before queued messages", async () => {
    const turn = await startTurn("goes on and on");
    const queued = await sayAs("queue", turn.sessionId, "waits in the queue");
    const urgent = await Promise.all(
      ["first urgent", "second urgent"].map((text) => sayAs("interrupt", turn.sessionId, text)),
    );
    for (const { statusUrl } of [queued, ...urgent]) await service.completed(statusUrl);
    const events = await Promise.all([turn, queued, ...urgent].map(({ streamUrl }) => readStream(streamUrl)));
    const [first = [], queuedEvents = [], ...others] = events.map(stored);
    expect(first.at(-1)?.data).toMatchObject({ kind: "run.completed", outcome: "cancelled" });
    const startOf = (of: StreamedEvent[]) => Number(of.find(({ event }) => event === "run.started")?.id);
    for (const other of others) expect(startOf(other)).toBeLessThan(startOf(queuedEvents));
    expect(queuedEvents.at(-1)?.data).toMatchObject({ outcome: "succeeded" });
    turn.release();
  });

  test("cancels a turn that waits for a retry, and starts before a queued turn", async () => {
    answers.set("always busy", { status: 503, message: "busy", headers: { "retry-after": "60" } });
    const created = await service.create("always busy");
    const status = `/api/sessions/${created.sessionId}/agent/status`;
    await waitUntil(async () => {
      const { activeRunId, lastRun } = await service.read(status);
      return activeRunId === null && lastRun !== null;
    }, "the first attempt has failed");
    const queued = await sayAs("queue", created.sessionId, "after all of it");
    const urgent = await sayAs("interrupt", created.sessionId, "right now");
    await service.completed(urgent.statusUrl);
    await service.completed(created.statusUrl);
    await service.completed(queued.statusUrl);
    expect(stored(await readStream(created.streamUrl)).at(-1)?.data).toMatchObject({ outcome: "cancelled" });
    expect((await transcriptOf(created.sessionId)).map(([, text]) => text)).toEqual([
      "always busy",
      "right now",
      "Done.",
      "after all of it",
      "Done.",
    ]);
  });
});
