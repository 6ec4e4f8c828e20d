import { expect, test } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel, Step } from "../fixtures/scripted-model/types.ts";
import { type CreatedSession, type RunningService, startService, userMessage } from "../fixtures/service.ts";
import { expectRefusal } from "./expect-refusal.ts";
import { followUntil, parseEvents, type StreamedEvent } from "./read-stream.ts";

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

/**
 * Makes the model hold back its answer to messages that contain `text`. @returns a function that releases the answer.
 */
function hold(text: string, step: Step = { text: "Here it is, at last." }): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  answers.set(text, { ...step, hold: promise });
  return resolve;
}
const statusOf = async (path: string) => (await service.read<{ status: string }>(path)).status;
const agentStatus = (sessionId: string) =>
  service.read<Record<string, unknown>>(`/api/sessions/${sessionId}/agent/status`);
const readStream = async (path: string, headers: Record<string, string> = {}) =>
  (await service.call("GET", path, undefined, headers)).text();
const say = (sessionId: string, body: unknown) =>
  service.call("POST", `/api/sessions/${sessionId}/agent/messages`, body);
type Accepted = CreatedSession & { queued: boolean };
const sayText = async (sessionId: string, text: string) =>
  (await (await say(sessionId, { text })).json()) as Accepted;
const kinds = (events: StreamedEvent[]) => events.map((event) => event.event);
const textOf = (events: StreamedEvent[]) => events.map(({ data }) => data.text).join("");

test.describe("request status", () => {
  test("goes from pending or running to completed, with the ids of its request and run", async () => {
    const release = hold("slow status");
    const created = await service.create("slow status");
    await model.waitForRequest((request) => request.userText.includes("slow status"));
    expect(await service.read(created.statusUrl)).toEqual({
      success: true,
      sessionId: created.sessionId,
      requestId: created.requestId,
      runId: created.runId,
      status: "running",
    });
    const waiting = await sayText(created.sessionId, "after it");
    expect(await statusOf(waiting.statusUrl)).toBe("pending");
    release();
    await service.completed(waiting.statusUrl);
    expect(await statusOf(created.statusUrl)).toBe("completed");
  });
});

test.describe("agent status", () => {
  test("reads running while a turn plays and idle afterwards", async () => {
    const release = hold("slow agent");
    const created = await service.create("slow agent");
    await model.waitForRequest((request) => request.userText.includes("slow agent"));
    expect(await agentStatus(created.sessionId)).toEqual({
      turnState: "running",
      waitingOn: null,
      activeRunId: created.runId,
      lastRunId: created.runId,
      deliverable: null,
      delegation: { maxLiveChildren: 4, maxLiveBrowsers: 4 },
      startupStatus: "uninitialized",
      lastRun: null,
      queued: 0,
      budget: null,
      browserHost: null,
      scripts: expect.any(String),
      missingTools: expect.any(Array),
      variants: [],
      pages: [],
      reports: [],
    });
    await sayText(created.sessionId, "one more");
    expect(await agentStatus(created.sessionId)).toMatchObject({ queued: 1 });
    const last = await sayText(created.sessionId, "and one more");
    expect(await agentStatus(created.sessionId)).toMatchObject({ queued: 2, lastRunId: created.runId });
    release();
    await service.completed(last.statusUrl);
    expect(await agentStatus(created.sessionId)).toMatchObject({
      turnState: "idle",
      activeRunId: null,
      lastRunId: last.runId,
      queued: 0,
      lastRun: { outcome: "succeeded", error: null },
    });
  });

  test("shows the failure of a run, also in plain sessions", async () => {
    answers.set("will be refused", { status: 400, message: "this model says no" });
    const created = await service.create("will be refused");
    await service.completed(created.statusUrl);
    expect(await agentStatus(created.sessionId)).toMatchObject({
      turnState: "idle",
      lastRun: { outcome: "errored", error: expect.stringContaining("this model says no") },
    });
  });
});

test.describe("the stream", () => {
  test("sends stored events with rising ids, their kind and the common fields, and closes after the last one", async () => {
    const created = await service.create("a plain turn", { source: "slack" });
    const response = await service.call("GET", created.streamUrl);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    const text = await response.text();
    expect(text).toMatch(/^retry: 1000\n\n/);
    const events = parseEvents(text);
    const stored = events.filter((event) => event.id !== undefined);
    // The first `message.completed` contains the user's message.
    expect(kinds(stored)).toEqual(["run.started", "message.completed", "message.completed", "run.completed"]);
    for (const { id, event, data } of stored)
      expect(data).toMatchObject({
        kind: event,
        seq: Number(id),
        timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
        sessionId: created.sessionId,
        requestId: created.requestId,
        runId: created.runId,
        source: "slack",
      });
    const ids = stored.map((event) => Number(event.id));
    expect(ids).toEqual([...ids].sort((left, right) => left - right));
    expect(stored.at(-1)?.data).toMatchObject({
      outcome: "succeeded",
      usage: { modelCalls: 1, toolCalls: 0, durationMs: expect.any(Number) },
    });
  });

  test("numbers the stored events of a session without a gap", async () => {
    const created = await service.create("first of three");
    const second = await sayText(created.sessionId, "second");
    const third = await sayText(created.sessionId, "third");
    await service.completed(third.statusUrl);
    const texts = await Promise.all([created, second, third].map(({ streamUrl }) => readStream(streamUrl)));
    const ids = texts.flatMap((text) => parseEvents(text).map((event) => Number(event.id)));
    expect(ids).toEqual(ids.map((_, index) => index + 1));
  });

  test("replays the same bytes, and resumes after Last-Event-ID or ?after", async () => {
    const created = await service.create("to be replayed");
    await service.completed(created.statusUrl);
    const whole = await readStream(created.streamUrl);
    expect(await readStream(created.streamUrl)).toBe(whole);
    expect(await readStream(`${created.streamUrl}?after=0`)).toBe(whole);
    const [retry, first, ...rest] = whole.split(/(?<=\n\n)/);
    expect(await readStream(created.streamUrl, { "last-event-id": "1" })).toBe(retry + rest.join(""));
    expect(await readStream(`${created.streamUrl}?after=1`)).toBe(retry + rest.join(""));
    expect(first).toMatch(/^id: 1\nevent: run\.started\n/);
    // An EventSource reconnects to its original URL, which still has the old `after`. It adds the header, so the header
    // must take precedence.
    expect(await readStream(`${created.streamUrl}?after=0`, { "last-event-id": "2" })).toBe(
      retry + rest.slice(1).join(""),
    );
  });

  test("answers 204 at or after the last event, so that an EventSource stops", async () => {
    const created = await service.create("to be over");
    await service.completed(created.statusUrl);
    const last = parseEvents(await readStream(created.streamUrl)).at(-1)?.id ?? "";
    for (const after of [last, "999999", "999999999999999"]) {
      const response = await service.call("GET", `${created.streamUrl}?after=${after}`);
      expect([response.status, await response.text()]).toEqual([204, ""]);
      expect(
        (await service.call("GET", created.streamUrl, undefined, { "last-event-id": after })).status,
      ).toBe(204);
    }
  });

  test("refuses malformed positions with 400", async () => {
    const created = await service.create("malformed");
    for (const after of ["-1", "1.5", "abc", "0x1", "1e3", " 1 2", "9".repeat(16), ""])
      await expectRefusal(
        await service.call("GET", `${created.streamUrl}?after=${after}`),
        400,
        "invalid_request",
        "after: must be a whole number",
      );
    await expectRefusal(
      await service.call("GET", `${created.streamUrl}?after=%00`),
      400,
      "invalid_request",
      "after: must not contain NUL characters",
    );
    for (const id of ["-1", "abc", "1,2"])
      await expectRefusal(
        await service.call("GET", created.streamUrl, undefined, { "last-event-id": id }),
        400,
        "invalid_request",
        "Last-Event-ID: must be a whole number",
      );
  });

  test("sends text as deltas without ids that the stored message supersedes", async () => {
    const text = "A fairly long answer, which travels in a good number of pieces.";
    const release = hold("in pieces", { text, chunkDelayMs: 5 });
    const created = await service.create("in pieces");
    const events = await followUntil(await service.call("GET", created.streamUrl), (soFar) => {
      if (textOf(soFar.filter((event) => event.event === "message.delta")) === text) release();
      return kinds(soFar).includes("run.completed");
    });
    const deltas = events.filter((event) => event.event === "message.delta");
    expect(deltas.length).toBeGreaterThan(0);
    let offset = 0;
    for (const { id, data } of deltas) {
      expect(id).toBeUndefined();
      expect(data).toMatchObject({ attempt: expect.any(Number), offset, runId: created.runId });
      offset += String(data.text).length;
    }
    expect(textOf(deltas)).toBe(text);
    const position = kinds(events).lastIndexOf("message.completed");
    expect(position).toBeGreaterThan(kinds(events).lastIndexOf("message.delta"));
    expect(JSON.stringify(events[position]?.data)).toContain(text);
  });

  test("sends a client that connects during a message its text so far as one delta at offset 0", async () => {
    const text = "Half of it is written before anybody looks, and the rest as well.";
    const release = hold("joined late", { text });
    const created = await service.create("joined late");
    const early = await followUntil(await service.call("GET", created.streamUrl), (events) =>
      textOf(events.filter((event) => event.event === "message.delta")).endsWith("as well."),
    );
    expect(kinds(early)[0]).toBe("run.started");
    const late = await followUntil(await service.call("GET", created.streamUrl), (events) =>
      kinds(events).includes("message.delta"),
    );
    const [delta] = late.filter((event) => event.event === "message.delta");
    expect(delta?.data).toMatchObject({ offset: 0, text });
    release();
    await service.completed(created.statusUrl);
  });

  test("contains all runs of the request, also retries; the request's status has the newest run's id", async () => {
    let calls = 0;
    model.respondWith((request) => {
      if (request.userText.includes("stumbles"))
        return calls++ === 0 ? { status: 503 } : { text: "Up again." };
      return [...answers].find(([text]) => request.userText.includes(text))?.[1] ?? { text: "Done." };
    });
    const created = await service.create("stumbles once");
    const events = parseEvents(await readStream(created.streamUrl));
    const starts = events.filter((event) => event.event === "run.started");
    const ends = events.filter((event) => event.event === "run.completed");
    expect(starts.map(({ data }) => [data.attempt, data.origin])).toEqual([
      [1, "external"],
      [2, "retry"],
    ]);
    expect(ends.map(({ data }) => data.outcome)).toEqual(["errored", "succeeded"]);
    expect(ends[0]?.data).toMatchObject({ willRetry: { attempt: 2, runId: starts[1]?.data.runId } });
    expect(ends[1]?.data).not.toHaveProperty("willRetry");
    expect(events.at(-1)).toBe(ends[1]);
    const status = await service.read<{ runId: string }>(created.statusUrl);
    expect(status.runId).toBe(starts[1]?.data.runId);
    expect(status.runId).not.toBe(created.runId);
  });

  test("keeps a silent connection alive with a comment every 15 s", async () => {
    const release = hold("silence");
    const created = await service.create("silence");
    const response = await service.call("GET", created.streamUrl);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (reader && !text.includes(": keep-alive\n\n")) text += (await reader.read()).value ?? "";
    expect(text.split("\n\n").at(-2)).toBe(": keep-alive");
    await reader?.cancel();
    release();
  });

  test("answers HEAD at once, without a body", async () => {
    const release = hold("only asking");
    const created = await service.create("only asking");
    const response = await service.call("HEAD", created.streamUrl);
    expect([response.status, await response.text()]).toEqual([200, ""]);
    release();
  });
});

test.describe("a follow-up message", () => {
  test("is answered with 202 and its request, run and paths, in each of the three forms", async () => {
    const { sessionId, statusUrl } = await service.create("to be followed");
    await service.completed(statusUrl);
    for (const body of [
      { text: "as text" },
      { message: userMessage("as a message") },
      {
        messages: [
          userMessage("as"),
          { role: "assistant", parts: [{ type: "text", text: "a" }] },
          userMessage("list"),
        ],
      },
      { text: "with everything", mode: "queue", userId: "user-7", idempotencyKey: "full" },
    ]) {
      const response = await say(sessionId, body);
      const accepted = await response.json();
      expect(response.status).toBe(202);
      expect(accepted).toEqual({
        success: true,
        sessionId,
        queued: false,
        requestId: expect.stringMatching(/^req_/),
        runId: expect.stringMatching(/^run_/),
        statusUrl: `/api/sessions/${sessionId}/requests/${accepted.requestId}`,
        streamUrl: `/api/sessions/${sessionId}/requests/${accepted.requestId}/stream`,
      });
      await service.completed(accepted.statusUrl);
      expect(await readStream(accepted.streamUrl)).toContain('"origin":"external"');
    }
    const { data } = await service.read<{
      data: { role: string; author: string | null; parts: { text: string }[] }[];
    }>(`/api/sessions/${sessionId}/messages`);
    expect(data.filter(({ role }) => role === "user").map(({ parts }) => parts[0]?.text)).toEqual([
      "to be followed",
      "as text",
      "as a message",
      "as",
      "list",
      "with everything",
    ]);
    expect(data.at(-2)?.author).toBe("user-7");
  });

  test("must have exactly one of text, message and messages, and no unknown field", async () => {
    const { sessionId } = await service.create("to be wronged");
    const message = userMessage("x");
    const refused: [unknown, string | RegExp][] = [
      [{}, "text: is required (or message, or messages)"],
      [{ mode: "queue" }, "text: is required (or message, or messages)"],
      [{ text: "x", message }, "message: send exactly one of text, message, messages, not also text"],
      [
        { message, messages: [message] },
        "messages: send exactly one of text, message, messages, not also message",
      ],
      [{ text: "" }, "text: must not be empty"],
      [{ text: null }, "text: must be a string"],
      [{ text: 5 }, "text: must be a string"],
      [
        { message: { role: "assistant", parts: [{ type: "text", text: "x" }] } },
        'message.role: must be "user"',
      ],
      [{ message: "x" }, "message: must be an object"],
      [{ messages: [] }, "messages: must hold at least one message"],
      [{ messages: [{ role: "user", parts: [] }] }, "messages[0].parts: must hold at least one part"],
      [{ text: "x", mode: "later" }, 'mode: must be one of "queue", "steer" or "interrupt"'],
      [{ text: "x", idempotencyKey: "" }, "idempotencyKey: must not be empty"],
      [{ text: "x", userId: 5 }, "userId: must be a string"],
      ...[
        "outputSchema",
        "tools",
        "systemPrompt",
        "mcpServers",
        "capabilities",
        "subAgents",
        "delegation",
        "metadata",
        "callback",
        "role",
      ].map((field): [unknown, string] => [{ text: "x", [field]: {} }, `${field}: unknown field`]),
      [[], "body: must be an object"],
      ["{", "body: must be valid JSON"],
      ["", "body: must not be empty"],
    ];
    for (const [body, error] of refused)
      await test.step(JSON.stringify(body).slice(0, 80), async () => {
        await expectRefusal(await say(sessionId, body), 400, "invalid_request", error);
      });
    const plain = await service.call("POST", `/api/sessions/${sessionId}/agent/messages`, "x", {
      "content-type": "text/plain",
    });
    await expectRefusal(plain, 415, "unsupported_media_type");
    const { data } = await service.read<{ data: { role: string }[] }>(`/api/sessions/${sessionId}/messages`);
    expect(data.filter(({ role }) => role === "user")).toHaveLength(1);
  });

  test("is queued while a turn runs; several that arrive at once run in order, each as its own turn", async () => {
    const release = hold("busy");
    const { sessionId } = await service.create("busy");
    await model.waitForRequest((request) => request.userText.includes("busy"));
    const accepted = await Promise.all(
      Array.from({ length: 10 }, (_, index) => sayText(sessionId, `follower ${index}`)),
    );
    expect(accepted.every(({ queued }) => queued)).toBe(true);
    release();
    for (const { statusUrl } of accepted) await service.completed(statusUrl);
    const { data } = await service.read<{
      data: { role: string; requestId: string; parts: { text: string }[] }[];
    }>(`/api/sessions/${sessionId}/messages?limit=200`);
    const followers = data.filter(({ parts }) => parts[0]?.text.startsWith("follower"));
    expect(followers).toHaveLength(10);
    expect(data.map(({ role }) => role)).toEqual(
      Array.from({ length: 11 }, () => ["user", "assistant"]).flat(),
    );
    // `followers` has the order of the transcript. If the ids of the first events rise, the turns were played in this
    // order.
    const starts = await Promise.all(
      followers.map(async ({ requestId }) => {
        const text = await readStream(`/api/sessions/${sessionId}/requests/${requestId}/stream`);
        return Number(parseEvents(text)[0]?.id);
      }),
    );
    expect(starts).toEqual([...starts].sort((left, right) => left - right));
  });

  test("is accepted once if it is sent 20 times at once with one idempotencyKey", async () => {
    const { sessionId, statusUrl } = await service.create("once only");
    await service.completed(statusUrl);
    const body = { text: "just once", idempotencyKey: "k" };
    const responses = await Promise.all(Array.from({ length: 20 }, () => say(sessionId, body)));
    expect(responses.map((response) => response.status)).toEqual(Array(20).fill(202));
    expect(
      responses.filter((response) => response.headers.get("idempotency-replayed") === "true"),
    ).toHaveLength(19);
    const ids = await Promise.all(responses.map(async (response) => (await response.json()).runId));
    expect(new Set(ids).size).toBe(1);
    const reused = await say(sessionId, { text: "something else", idempotencyKey: "k" });
    await expectRefusal(reused, 422, "idempotency_key_reused", /^idempotencyKey: /);
    const other = await service.create("another session");
    expect((await say(other.sessionId, body)).headers.has("idempotency-replayed")).toBe(false);
  });

  test("with the mode interrupt ends the running turn as cancelled, then starts", async () => {
    hold("endless");
    const created = await service.create("endless");
    await model.waitForRequest((request) => request.userText.includes("endless"));
    const response = await say(created.sessionId, { text: "stop that", mode: "interrupt" });
    const accepted = await response.json();
    await service.completed(accepted.statusUrl);
    const first = parseEvents(await readStream(created.streamUrl));
    expect(first.at(-1)?.data).toMatchObject({ kind: "run.completed", outcome: "cancelled" });
    expect(await agentStatus(created.sessionId)).toMatchObject({
      lastRun: { outcome: "succeeded", error: null },
    });
  });
});

test.describe("POST …/agent/cancel", () => {
  test("stops the running turn, and the next turn starts", async () => {
    hold("to be stopped");
    const created = await service.create("to be stopped");
    await model.waitForRequest((request) => request.userText.includes("to be stopped"));
    const next = await sayText(created.sessionId, "goes on");
    const response = await service.call("POST", `/api/sessions/${created.sessionId}/agent/cancel`);
    expect([response.status, await response.json()]).toEqual([
      202,
      { success: true, sessionId: created.sessionId, runId: created.runId },
    ]);
    await service.completed(created.statusUrl);
    expect(parseEvents(await readStream(created.streamUrl)).at(-1)?.data).toMatchObject({
      outcome: "cancelled",
    });
    await service.completed(next.statusUrl);
  });

  test("answers 202 without a run if no turn runs", async () => {
    const created = await service.create("over soon");
    await service.completed(created.statusUrl);
    const response = await service.call("POST", `/api/sessions/${created.sessionId}/agent/cancel`);
    expect([response.status, await response.json()]).toEqual([
      202,
      { success: true, sessionId: created.sessionId, runId: null },
    ]);
  });
});
