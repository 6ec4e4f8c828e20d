import { createHmac } from "node:crypto";
import { expect, test } from "@playwright/test";
import { type Receiver, startReceiver } from "../fixtures/receiver.ts";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { type CreatedSession, type RunningService, startService, waitUntil } from "../fixtures/service.ts";
import { parseEvents } from "./read-stream.ts";

let service: RunningService;
let model: ScriptedModel;
const receivers: Receiver[] = [];

test.beforeAll(async () => {
  model = await startScriptedModel({ script: { otherwise: { text: "Done." } } });
  service = await startService({
    OPENAI_BASE_URL: model.baseUrl,
    CALLBACK_RETRY_BASE_MS: "20",
    CALLBACK_RETRY_FACTOR: "2",
  });
});
test.afterAll(async () => {
  await service.close();
  await model.close();
  for (const receiver of receivers) await receiver.close();
});

async function receive(statuses?: number[]): Promise<Receiver> {
  const receiver = await startReceiver(statuses);
  receivers.push(receiver);
  return receiver;
}
const arrived = (receiver: Receiver, count: number) =>
  waitUntil(() => receiver.received.length >= count, `${count} deliveries have arrived`);
type Delivery = {
  id: string;
  event: string;
  runId: string;
  state: string;
  attempts: { status: number | null; error: string | null }[];
  nextAttemptAt: string | null;
};
const deliveries = async ({ sessionId }: CreatedSession) =>
  (await service.read<{ data: Delivery[] }>(`/api/sessions/${sessionId}/deliveries`)).data;
const settled = (created: CreatedSession, count: number) =>
  waitUntil(async () => {
    const rows = await deliveries(created);
    return rows.length === count && rows.every(({ state }) => state === "delivered" || state === "dropped");
  }, "all deliveries have settled");

test.describe("run lifecycle callbacks", () => {
  test("post run.started and run.completed with the specification's body and headers", async () => {
    const receiver = await receive();
    const created = await service.create("Hello", { callback: { url: receiver.url }, source: "slack" });
    await arrived(receiver, 2);
    const events = parseEvents(await (await service.call("GET", created.streamUrl)).text());
    for (const [index, event] of ["run.started", "run.completed"].entries()) {
      const received = receiver.received[index];
      expect(received).toMatchObject({
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-service-event": event,
          "x-service-delivery": expect.stringMatching(/^whd-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
        },
      });
      expect(received?.headers).not.toHaveProperty("x-service-signature");
      const payload = JSON.parse(String(received?.body));
      expect(payload).toEqual({
        event,
        sessionId: created.sessionId,
        requestId: created.requestId,
        runId: created.runId,
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
        // The data equals the complete event that the stream sends.
        data: events.find(({ data }) => data.kind === event)?.data,
      });
      expect(payload.data).toMatchObject({ kind: event, source: "slack" });
    }
  });

  test("are signed with HMAC-SHA256 over the exact raw bytes when a secret was registered", async () => {
    const receiver = await receive();
    const secret = "gehe im ☂";
    await service.create("Grüße 👋 from the page", { callback: { url: receiver.url, secret } });
    await arrived(receiver, 2);
    for (const { headers, body } of receiver.received)
      expect(headers["x-service-signature"]).toBe(
        `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
      );
  });

  test("are filtered by callback.events", async () => {
    const [ends, starts] = [await receive(), await receive()];
    const first = await service.create("Hi", { callback: { url: ends.url, events: ["run.completed"] } });
    const second = await service.create("Hi", { callback: { url: starts.url, events: ["run.started"] } });
    await settled(first, 1);
    await settled(second, 1);
    expect(ends.received.map(({ headers }) => headers["x-service-event"])).toEqual(["run.completed"]);
    expect(starts.received.map(({ headers }) => headers["x-service-event"])).toEqual(["run.started"]);
  });

  test("are sent for every run, also of follow-ups, each with a different id", async () => {
    const receiver = await receive();
    const created = await service.create("Hi", { callback: { url: receiver.url } });
    const followUp = await (
      await service.call("POST", `/api/sessions/${created.sessionId}/agent/messages`, { text: "More" })
    ).json();
    await arrived(receiver, 4);
    const bodies = receiver.received.map(({ body }) => JSON.parse(String(body)));
    expect(bodies.map(({ runId, event }) => `${runId} ${event}`).sort()).toEqual(
      [created.runId, followUp.runId].flatMap((id) => [`${id} run.completed`, `${id} run.started`]).sort(),
    );
    expect(new Set(receiver.received.map(({ headers }) => headers["x-service-delivery"])).size).toBe(4);
  });

  test("are retried with the same id and the same bytes until a 2xx", async () => {
    const receiver = await receive([500, 404, 302, 204]);
    const created = await service.create("Hi", {
      callback: { url: receiver.url, events: ["run.completed"], secret: "s" },
    });
    await settled(created, 1);
    expect(receiver.received).toHaveLength(4);
    const [first, ...more] = receiver.received;
    for (const { headers, body } of more) {
      expect(headers["x-service-delivery"]).toBe(first?.headers["x-service-delivery"]);
      expect(headers["x-service-signature"]).toBe(first?.headers["x-service-signature"]);
      expect(body.equals(first?.body ?? Buffer.from(""))).toBe(true);
    }
    const [delivery] = await deliveries(created);
    expect(delivery).toMatchObject({
      id: first?.headers["x-service-delivery"],
      event: "run.completed",
      runId: created.runId,
      state: "delivered",
      nextAttemptAt: null,
    });
    expect(delivery?.attempts.map(({ status }) => status)).toEqual([500, 404, 302, 204]);
  });

  test("are dropped after five attempts, and never fail the run", async () => {
    const receiver = await receive([503]);
    const created = await service.create("Hi", {
      callback: { url: receiver.url, events: ["run.completed"] },
    });
    await settled(created, 1);
    expect(receiver.received).toHaveLength(5);
    const [delivery] = await deliveries(created);
    expect(delivery?.state).toBe("dropped");
    expect(delivery?.attempts).toHaveLength(5);
    expect(await service.read(`/api/sessions/${created.sessionId}/agent/status`)).toMatchObject({
      lastRun: { outcome: "succeeded", error: null },
    });
    const gaps = receiver.received.slice(1).map(({ at }, index) => at - (receiver.received[index]?.at ?? 0));
    for (const [index, gap] of gaps.entries()) expect(gap).toBeGreaterThanOrEqual(20 * 2 ** index * 0.8);
  });

  test("are sent again unchanged by POST …/redeliver", async () => {
    const receiver = await receive([503, 503, 503, 503, 503, 200]);
    const created = await service.create("Hi", {
      callback: { url: receiver.url, events: ["run.completed"], secret: "s" },
    });
    await settled(created, 1);
    const [dropped] = await deliveries(created);
    const path = `/api/sessions/${created.sessionId}/deliveries`;
    const answer = await service.call("POST", `${path}/${dropped?.id}/redeliver`);
    expect([answer.status, (await answer.json()).delivery.state]).toEqual([202, "pending"]);
    await arrived(receiver, 6);
    await settled(created, 1);
    expect((await deliveries(created))[0]).toMatchObject({ id: dropped?.id, state: "delivered" });
    for (const header of ["x-service-delivery", "x-service-signature", "webhook-id"])
      expect(new Set(receiver.received.map(({ headers }) => headers[header])).size, header).toBe(1);
    expect(new Set(receiver.received.map(({ body }) => String(body))).size).toBe(1);
    expect((await service.call("POST", `${path}/whd-none/redeliver`)).status).toBe(404);
  });

  test("are recorded with an error if the receiver cannot be reached", async () => {
    const receiver = await startReceiver();
    await receiver.close();
    const created = await service.create("Hi", { callback: { url: receiver.url, events: ["run.started"] } });
    await settled(created, 1);
    const [delivery] = await deliveries(created);
    expect(delivery?.state).toBe("dropped");
    for (const attempt of delivery?.attempts ?? [])
      expect(attempt).toEqual({
        cycle: 1,
        at: expect.any(String),
        status: null,
        latencyMs: expect.any(Number),
        error: expect.stringMatching(/./),
        excerpt: null,
      });
  });

  test("are not sent without a callback", async () => {
    const created = await service.create("Hi");
    await service.completed(created.statusUrl);
    expect(await deliveries(created)).toEqual([]);
  });
});
