import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { WebSocket as OtherWebSocket } from "ws";
import { startReceiver } from "#e2e/fixtures/receiver.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { closeSchemas, createDocumentAjv } from "#lib/api/openapi/check-answer.ts";
import { buildDocument } from "#lib/api/openapi/document/build-document.ts";
import { refTo } from "#lib/api/openapi/json-schema.ts";
import {
  ApiError,
  CallbackSignatureError,
  ConnectionError,
  createClient,
  DeliverableError,
  type LiveFrame,
  type StreamEvent,
  verifyCallback,
  WaitTimeoutError,
} from "#lib/client/index.ts";
import { type HttpTestService, openHttpTestService } from "./http-testing.ts";
import { TEST_KEY, waitUntil } from "./testing.ts";

let service: HttpTestService;
let client: ReturnType<typeof createClient>;
/**
 * Validates socket frames and callbacks against their schemas in the OpenAPI document. `service.fetch` validates only
 * answers of operations.
 */
const document = createDocumentAjv(closeSchemas(buildDocument("http://127.0.0.1")));
/**
 * Maps a text to the model's answer to messages that contain this text. The model answers all other messages with
 * "Done.".
 */
const answers = new Map<string, Step>();

before(async () => {
  service = await openHttpTestService();
  service.model.respondWith(
    (request) => [...answers].find(([text]) => request.userText.includes(text))?.[1] ?? { text: "Done." },
  );
  client = createClient({ baseUrl: service.baseUrl, apiKey: TEST_KEY, fetch: service.fetch });
});
after(() => service.close());

const ask = (text: string) => ({
  messages: [{ role: "user" as const, parts: [{ type: "text" as const, text }] }],
});
const TITLE = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };

function hold(text: string, step: Step = { text: "At last." }): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  answers.set(text, { ...step, hold: promise });
  return resolve;
}
async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
const stored = (events: StreamEvent[]) => events.filter((event) => "seq" in event);

describe("a client's calls", () => {
  test("create, follow up, read and cancel with the types of the contract", async () => {
    const created = await client.createSession({ ...ask("hello"), userId: "user-7" });
    assert.match(created.sessionId, /^ses_/);
    assert.equal((await client.waitForRequest(created)).status, "completed");
    const accepted = await client.sendMessage(created.sessionId, "and more");
    assert.equal((await client.waitForRequest(accepted, { via: "poll" })).runId, accepted.runId);
    assert.equal((await client.cancel(created.sessionId)).runId, null);
    assert.equal((await client.getStatus(created)).status, "completed");
    assert.equal((await client.getAgentStatus(created.sessionId)).turnState, "idle");
    assert.equal((await client.getBrowser(created.sessionId)).status, "idle");
    const named = await client.sendMessage(created.sessionId, { text: "and this", userId: "user-8" });
    await client.waitForRequest(named);
    const { data } = await client.api.listMessages({ sessionId: created.sessionId, limit: 6 });
    assert.deepEqual(
      data.map(({ role, author }) => [role, author]),
      ["user-7", "user-7", "user-8"].flatMap((author) => [
        ["user", author],
        ["assistant", null],
      ]),
      "a follow-up without a userId has that of the session",
    );
    assert.equal((await client.api.readHealth()).ok, true);
    assert.equal((await client.api.listSessions({ limit: 1 })).data.length, 1);
  });

  test("throw refusals with their status, code, field and sentence", async () => {
    const refused = client.createSession({ ...ask("x"), subAgents: "yes" as unknown as boolean });
    await assert.rejects(refused, (error: unknown) => {
      assert.ok(error instanceof ApiError);
      assert.deepEqual(
        [error.status, error.code, error.field, error.message],
        [400, "invalid_request", "subAgents", "subAgents: must be a boolean"],
      );
      return true;
    });
    const unknown = client.getAgentStatus("ses_nobody");
    await assert.rejects(unknown, { name: "ApiError", status: 404, code: "not_found", field: undefined });
    const stranger = createClient({ baseUrl: service.baseUrl, apiKey: "wrong" });
    await assert.rejects(stranger.getAgentStatus("ses_a"), { status: 401, code: "unauthorized" });
    const ceiling = client.createSession({ ...ask("x"), delegation: { maxLiveChildren: 99 } });
    await assert.rejects(ceiling, { field: "delegation.maxLiveChildren" });
    const browser = client.api.retargetBrowser({
      sessionId: (await client.createSession(ask("b"))).sessionId,
      body: { url: "" },
    });
    await assert.rejects(browser, { status: 400, code: "", field: "url", message: "url is required" });
  });

  test("throw a ConnectionError if the service is unreachable, and the abort reason if their signal aborts", async () => {
    const nowhere = createClient({ baseUrl: "http://127.0.0.1:9", apiKey: "x" });
    await assert.rejects(nowhere.api.readHealth(), ConnectionError);
    const reason = new Error("enough");
    await assert.rejects(client.api.readHealth({}, { signal: AbortSignal.abort(reason) }), reason);
  });
});

describe("events()", () => {
  test("yields each stored event once and in order, and ends with the request", async () => {
    const created = await client.createSession(ask("plain"));
    const events = await collect(client.events(created));
    assert.equal(events.at(-1)?.kind, "run.completed");
    const numbers = stored(events).map(({ seq }) => seq);
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].sort((a, b) => a - b),
    );
    // The client can read the events of a completed request again. If `after` is the last event, no event follows.
    assert.deepEqual(stored(await collect(client.events(created))), stored(events));
    assert.deepEqual(await collect(client.events(created, { after: numbers.at(-1) })), []);
  });

  test("resumes after the last received event when the connection breaks", async () => {
    const release = hold("broken twice");
    const created = await client.createSession(ask("broken twice"));
    const received: StreamEvent[] = [];
    let cuts = 0;
    for await (const event of client.events(created)) {
      received.push(event);
      if (event.kind === "message.delta" && cuts++ < 2) service.cutConnections();
      if (cuts === 2) release();
    }
    assert.equal(cuts >= 2, true);
    const whole = stored(await collect(client.events(created)));
    assert.deepEqual(stored(received), whole);
    assert.equal(received.at(-1)?.kind, "run.completed");
  });

  test("spans a retry, and ends only with the last run", async () => {
    let calls = 0;
    service.model.respondWith((request) => {
      if (request.userText.includes("stumbles"))
        return calls++ === 0 ? { status: 503 } : { text: "Up again." };
      return [...answers].find(([text]) => request.userText.includes(text))?.[1] ?? { text: "Done." };
    });
    const events = await collect(client.events(await client.createSession(ask("stumbles"))));
    assert.deepEqual(
      events.flatMap((event) => (event.kind === "run.completed" ? event.outcome : [])),
      ["errored", "succeeded"],
    );
  });

  test("ends a steer's events with the turn that it joined", async () => {
    const release = hold("long work", { toolCalls: [{ name: "list_files", arguments: {} }] });
    const created = await client.createSession(ask("long work"));
    await service.model.waitForRequest((request) => request.userText.includes("long work"));
    const steer = await client.sendMessage(created.sessionId, { text: "and the footer", mode: "steer" });
    const following = collect(client.events(steer));
    answers.delete("long work");
    release();
    assert.equal((await following).at(-1)?.kind, "run.completed");
  });

  test("can be left early, and ends with the caller's signal", async () => {
    const release = hold("left early");
    const created = await client.createSession(ask("left early"));
    for await (const _ of client.events(created)) break;
    const abort = new AbortController();
    const following = collect(client.events(created, { signal: abort.signal }));
    abort.abort(new Error("enough"));
    await assert.rejects(following, { message: "enough" });
    release();
    await client.waitForRequest(created);
  });

  test("throws without a retry if the service refuses permanently", async () => {
    const events = client.events({ sessionId: "ses_nobody", requestId: "req_nothing" });
    await assert.rejects(collect(events), { name: "ApiError", status: 404 });
  });

  test("reconnects after a silence, and waits as long as Retry-After says", async () => {
    let calls = 0;
    const at: number[] = [];
    const server = createServer((_, response) => {
      at.push(performance.now());
      if (calls++ === 0)
        response.writeHead(200, { "content-type": "text/event-stream" }).write("retry: 1\n\n");
      else if (calls === 2) response.writeHead(429, { "retry-after": "1" }).end("{}");
      else response.writeHead(204).end();
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const own = createClient({ baseUrl: `http://127.0.0.1:${port}` });
    const events = own.events({ sessionId: "ses_a", requestId: "req_a" }, { silenceMaxMs: 20 });
    assert.deepEqual(await collect(events), []);
    assert.equal(calls, 3);
    assert.ok((at[2] ?? 0) - (at[1] ?? 0) >= 990);
    server.closeAllConnections();
    server.close();
  });
});

describe("waitForDeliverable()", () => {
  test("returns the typed result, by stream and by polling", async () => {
    answers.set("a title", { json: { title: "Harbour" }, text: "Looked." });
    service.model.respondWith((request) =>
      request.kind === "structured" ? { json: { title: "Harbour" } } : { text: "Looked." },
    );
    const created = await client.createSession({ ...ask("a title"), outputSchema: TITLE });
    assert.deepEqual(await client.waitForDeliverable<{ title: string }>(created), { title: "Harbour" });
    const polled = await client.waitForDeliverable<{ title: string }>(created, { via: "poll" });
    assert.equal(polled.title, "Harbour");
  });

  test("throws the reason if there is no deliverable", async () => {
    service.model.respondWith((request) =>
      request.kind === "structured"
        ? { finish: "refusal", refusal: "I would rather not." }
        : { text: "Looked." },
    );
    const created = await client.createSession({ ...ask("refused"), outputSchema: TITLE });
    await assert.rejects(client.waitForDeliverable(created), DeliverableError);
    await assert.rejects(client.waitForDeliverable({ sessionId: created.sessionId }), {
      runId: created.runId,
    });
    const plain = await client.createSession(ask("without a schema"));
    await assert.rejects(client.waitForDeliverable(plain), { code: "no_deliverable" });
    await assert.rejects(client.waitForDeliverable(plain, { via: "poll" }), { code: "no_deliverable" });
  });

  test("throws at its timeout or when its signal aborts, and does not stop the session", async () => {
    service.model.respondWith(
      (request) => [...answers].find(([text]) => request.userText.includes(text))?.[1] ?? { text: "Done." },
    );
    const release = hold("takes long");
    const created = await client.createSession(ask("takes long"));
    for (const via of ["stream", "poll"] as const) {
      await assert.rejects(client.waitForRequest(created, { timeoutMs: 50, via }), WaitTimeoutError);
      const signal = AbortSignal.abort(new Error("enough"));
      await assert.rejects(client.waitForRequest(created, { signal, via }), { message: "enough" });
    }
    const waiting = client.waitForRequest(created, { timeoutMs: Number.POSITIVE_INFINITY });
    setTimeout(release, 200);
    assert.equal((await waiting).status, "completed");
  });
});

describe("live()", () => {
  const frames: LiveFrame[] = [];
  const kinds = () => frames.map(({ type }) => type);

  test("receives each event once, also when the connection breaks", async (t) => {
    const release = hold("followed live");
    const created = await client.createSession(ask("followed live"));
    const live = client.live(created.sessionId, { after: 0, onFrame: (frame) => frames.push(frame) });
    t.after(live.close);
    await waitUntil(() => kinds().includes("message.delta"), "a piece of the message has arrived");
    assert.equal(kinds()[0], "ready");
    assert.equal(live.send({ type: "ping" }), true);
    await waitUntil(() => kinds().includes("pong"), "the ping was answered");
    service.cutConnections();
    await waitUntil(
      () => kinds().filter((kind) => kind === "ready").length === 2,
      "the client has reconnected",
    );
    release();
    await waitUntil(() => kinds().includes("run.completed"), "the end of the run has arrived");
    live.close();
    await live.closed;
    const numbers = frames.flatMap((frame) => ("seq" in frame ? frame.seq : []));
    assert.deepEqual(numbers, [...new Set(numbers)]);
    assert.equal(numbers[0], 1);
    for (const frame of frames) assert.deepEqual(document.explain(refTo("LiveFrame"), frame), []);
  });

  test("begins with the next event without `after`, and accepts another WebSocket implementation", async () => {
    const created = await client.createSession(ask("before"));
    await client.waitForRequest(created);
    const later: LiveFrame[] = [];
    const live = client.live(created.sessionId, {
      onFrame: (frame) => later.push(frame),
      openSocket: (url, headers) => new OtherWebSocket(url, { headers }) as unknown as WebSocket,
    });
    await waitUntil(() => later.length > 0, "the socket is ready");
    await client.waitForRequest(await client.sendMessage(created.sessionId, "after"));
    await waitUntil(() => later.some(({ type }) => type === "run.completed"), "the second run has ended");
    assert.equal(later.filter(({ type }) => type === "run.completed").length, 1);
    live.close();
  });

  test("rejects `closed` with the status if the service refuses the socket", async () => {
    const stranger = createClient({ baseUrl: service.baseUrl, apiKey: "wrong" });
    const { sessionId } = await client.createSession(ask("private"));
    await assert.rejects(stranger.live(sessionId, { onFrame: () => {} }).closed, { status: 401 });
    await assert.rejects(client.live("ses_nobody", { onFrame: () => {} }).closed, { status: 404 });
  });

  test("rejects `closed` if the session is removed while the connection is broken", async () => {
    const { sessionId } = await client.createSession(ask("removed meanwhile"));
    const received: string[] = [];
    const live = client.live(sessionId, { onFrame: ({ type }) => received.push(type) });
    await waitUntil(() => received.includes("ready"), "the socket is ready");
    service.cutConnections();
    assert.equal((await service.call("DELETE", `/api/sessions/${sessionId}`)).status, 200);
    await assert.rejects(live.closed, { status: 404 });
  });
});

describe("verifyCallback()", () => {
  const secret = "shh";

  test("accepts the service's callbacks, with Node's headers and with web headers", async () => {
    const receiver = await startReceiver();
    const created = await client.createSession({
      ...ask("tell me"),
      callback: { url: receiver.url, secret },
    });
    await client.waitForRequest(created);
    await waitUntil(() => receiver.received.length === 2, "both callbacks have arrived");
    for (const { headers, body } of receiver.received) {
      const verified = await verifyCallback({ headers, body, secret });
      const schema = verified.event === "run.started" ? "RunStartedCallback" : "RunCompletedCallback";
      assert.deepEqual(document.explain(refTo(schema), verified.body), []);
      assert.equal(verified.body.requestId, created.requestId);
      assert.match(verified.delivery, /^whd-/);
      const web = new Headers(Object.entries(headers).map(([name, value]) => [name, String(value)]));
      assert.equal(
        (await verifyCallback({ headers: web, body: body.toString(), secret })).event,
        verified.event,
      );
      await assert.rejects(verifyCallback({ headers, body, secret: "other" }), CallbackSignatureError);
      await assert.rejects(verifyCallback({ headers, body: `${body} `, secret }), CallbackSignatureError);
      const late = () => Date.now() + 3_600_000;
      await assert.rejects(verifyCallback({ headers, body, secret, now: late }), /too far from now/);
      const moved = { ...headers, "webhook-timestamp": "1" };
      await assert.rejects(verifyCallback({ headers: moved, body, secret }), CallbackSignatureError);
    }
    await receiver.close();
  });

  test("accepts the specification's signature alone, and rejects a missing one", async () => {
    const body = JSON.stringify({ event: "run.started", data: {} });
    const hmac = createHmac("sha256", secret).update(body).digest("hex");
    const headers = { "X-Service-Signature": `sha256=${hmac}`, "X-Service-Delivery": "whd-1" };
    assert.equal((await verifyCallback({ headers, body, secret })).event, "run.started");
    await assert.rejects(verifyCallback({ headers: {}, body, secret }), /missing or malformed/);
    const short = { "x-service-signature": `sha256=${hmac.slice(2)}` };
    await assert.rejects(verifyCallback({ headers: short, body, secret }), CallbackSignatureError);
  });
});
