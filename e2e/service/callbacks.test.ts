import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startReceiver } from "#e2e/fixtures/receiver.ts";
import { signBody } from "#lib/callback/sign-body.ts";
import { openTestService, say, type TestService, waitUntil } from "./testing.ts";

const [FIRST, SECOND] = ["first-secret-of-the-test", "second-secret-of-the-test"];
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let service: TestService;

before(async () => {
  receiver = await startReceiver([200]);
  service = await openTestService({ CALLBACK_SECRET_MIN: "24" });
  service.model.respondWith(() => say("Done."));
});
after(async () => {
  await service.close();
  await receiver.close();
});

type Callback = { url: string; isSigned: boolean; previousSecretExpiresAt: string | null };

const readCallback = async (sessionId: string) =>
  (await service.read<{ session: { callback: Callback } }>(`/api/sessions/${sessionId}`)).session.callback;

test("the API rotates the callback secret of a session, and callbacks in the overlap have both signatures", async () => {
  const { sessionId, statusUrl } = await service.create("hello", {
    callback: { url: `${receiver.url}?token=canary`, secret: FIRST },
  });
  await service.completed(statusUrl);
  await waitUntil(() => receiver.received.length === 2, "both callbacks have arrived");
  assert.deepEqual(await readCallback(sessionId), {
    url: `${receiver.url}?token=***`,
    events: ["run.started", "run.completed"],
    isSigned: true,
    previousSecretExpiresAt: null,
    failingSince: null,
    disabledAt: null,
  });
  const path = `/api/sessions/${sessionId}/callback/secret`;
  const rotated = await service.call("POST", path, { secret: SECOND, overlapHours: 2 });
  assert.equal(rotated.status, 200);
  const { callback } = (await rotated.json()) as { callback: Callback };
  const leftMs = Date.parse(callback.previousSecretExpiresAt ?? "") - Date.now();
  assert.ok(leftMs > 7_000_000 && leftMs <= 7_200_000, `${leftMs} ms`);
  assert.deepEqual(await readCallback(sessionId), callback);
  assert.ok(!JSON.stringify(callback).includes("secret-of-the-test"));

  const posted = await service.call("POST", `/api/sessions/${sessionId}/agent/messages`, { text: "again" });
  await service.completed((await posted.json()).statusUrl);
  await waitUntil(() => receiver.received.length === 4, "the callbacks of the second run have arrived");
  for (const { headers, body, path: requestPath } of receiver.received.slice(2)) {
    assert.equal(headers["x-service-signature"], signBody(SECOND, Buffer.from(body)));
    assert.equal(headers["x-service-signature-previous"], signBody(FIRST, Buffer.from(body)));
    assert.equal(requestPath, "/hook?token=canary");
  }
});

test("a rotation is refused for a short secret, a session without a callback and an unknown session", async () => {
  const refuse = async (sessionId: string, body: unknown) => {
    const answer = await service.call("POST", `/api/sessions/${sessionId}/callback/secret`, body);
    return [answer.status, ((await answer.json()) as { error: string }).error];
  };
  const { sessionId } = await service.create("hello");
  assert.deepEqual(await refuse(sessionId, { secret: "short" }), [
    400,
    "secret: must be at least 20 characters",
  ]);
  assert.deepEqual(await refuse(sessionId, { secret: "x".repeat(23) }), [
    400,
    "secret: must be at least 24 characters",
  ]);
  assert.deepEqual(await refuse(sessionId, { secret: SECOND }), [
    409,
    "this session was created without a callback",
  ]);
  assert.equal((await refuse("ses_aaaaaaaaaaaaaaaaaaaaaaaa", { secret: SECOND }))[0], 404);
  const enabled = await service.call("POST", `/api/sessions/${sessionId}/callback/enable`);
  assert.equal(enabled.status, 409);
  const created = await service.call("POST", "/api/session", {
    messages: [{ role: "user", parts: [{ type: "text", text: "hello" }] }],
    callback: { url: receiver.url, secret: "shh" },
  });
  assert.equal(created.status, 400);
  assert.equal((await created.json()).error, "callback.secret: must be at least 24 characters");
});
