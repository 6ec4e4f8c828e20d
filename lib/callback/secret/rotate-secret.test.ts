import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { eq } from "drizzle-orm";
import { Webhook } from "standardwebhooks";
import type { Database } from "#db/client.ts";
import { deliveries, sealedSecrets, sessions } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { verifyCallback } from "#lib/client/verify-callback.ts";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import { createGuardedPost, type GuardedPost } from "#lib/net/fetch/guarded-post.ts";
import { createSealer } from "#lib/secrets/sealer.ts";
import { attemptDelivery } from "../attempt-delivery.ts";
import { standardSchedule } from "../retry-schedule.ts";
import { signBody } from "../sign-body.ts";
import { seedCallbackSession, seedDelivery, startReceiver } from "../testing.ts";
import { rotateCallbackSecret } from "./rotate-secret.ts";

const [FIRST, SECOND, THIRD] = ["shh", "second-secret-8c1f0d5b7a2e", "third-secret-4f6390b1d7c5"];
const HOUR_MS = 3_600_000;
const sealer = createSealer(new Uint8Array(32).fill(7));

let db: Database;
let closeDatabase: () => Promise<void>;
let post: GuardedPost;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let run: Awaited<ReturnType<typeof seedCallbackSession>>;

before(async () => {
  ({ db, close: closeDatabase } = await openTestDatabase());
  post = createGuardedPost(createAddressRule({ allow: ["127.0.0.1"] }));
  receiver = await startReceiver((_request, response) => response.end());
});
after(async () => {
  receiver.close();
  post.close();
  await closeDatabase();
});
beforeEach(async () => {
  run = await seedCallbackSession(db, { url: receiver.url, secret: FIRST, sealer });
});

const rotate = (secret: string, overlapMs = HOUR_MS) =>
  rotateCallbackSecret({ db, sealer }, run.sessionId, { secret, overlapMs });

/** Delivers a callback. @returns the received request, and the secret with which each signature was made. */
async function deliver(clock?: () => Date) {
  await db.delete(deliveries).where(eq(deliveries.runId, run.runId));
  const deliveryId = await seedDelivery(db, run, "run.started");
  const logger = { info: () => {}, warn: () => {} };
  const deps = { db, post, sealer, schedule: standardSchedule, logger, ...(clock && { clock }) };
  assert.deepEqual(await attemptDelivery(deps, { deliveryId, cycle: 1, number: 1 }), { state: "delivered" });
  const request = receiver.received.at(-1);
  assert.ok(request);
  const secretOf = (name: string) =>
    [FIRST, SECOND, THIRD].find((secret) => request.headers[name] === signBody(secret, request.body));
  return {
    request,
    signed: secretOf("x-service-signature"),
    previous: secretOf("x-service-signature-previous"),
  };
}

describe("rotating a callback secret", () => {
  test("the specification's header has the new secret's signature, the overlap's header the old one's", async () => {
    assert.deepEqual(await deliver().then(({ signed, previous }) => [signed, previous]), [FIRST, undefined]);
    assert.equal(await rotate(SECOND), true);
    const { request, signed, previous } = await deliver();
    assert.deepEqual([signed, previous], [SECOND, FIRST]);
    for (const secret of [FIRST, SECOND]) {
      const headers = request.headers as Record<string, string>;
      new Webhook(secret, { format: "raw" }).verify(request.body, headers);
      assert.equal((await verifyCallback({ headers, body: request.body, secret })).event, "run.started");
    }
    await assert.rejects(verifyCallback({ headers: request.headers, body: request.body, secret: THIRD }));
  });

  test("the old secret stops signing when the overlap ends, or at once without one", async () => {
    await rotate(SECOND);
    const late = new Date(Date.now() + HOUR_MS + 1_000);
    const after = await deliver(() => late);
    assert.deepEqual([after.signed, after.previous], [SECOND, undefined]);
    assert.equal(after.request.headers["x-service-signature-previous"], undefined);
    assert.equal(String(after.request.headers["webhook-signature"]).split(" ").length, 1);
    await rotate(THIRD, 0);
    const now = await deliver();
    assert.deepEqual([now.signed, now.previous], [THIRD, undefined]);
  });

  test("a repeated rotation changes nothing; the next one replaces the previous secret, too", async () => {
    await rotate(SECOND);
    await rotate(SECOND, 0);
    assert.equal((await deliver()).previous, FIRST, "a repeated request does not end the overlap");
    await rotate(THIRD);
    const { signed, previous } = await deliver();
    assert.deepEqual([signed, previous], [THIRD, SECOND]);
  });

  test("concurrent rotations end with one of the secrets, and one that it has replaced", async () => {
    await Promise.all([rotate(SECOND), rotate(THIRD)]);
    const { signed, previous } = await deliver();
    assert.deepEqual(new Set([signed, previous]), new Set([SECOND, THIRD]));
  });

  test("a callback without a secret gets one, which is never stored in plain text", async () => {
    run = await seedCallbackSession(db, { url: receiver.url, sealer });
    await rotate(SECOND);
    const { signed, previous } = await deliver();
    assert.deepEqual([signed, previous], [SECOND, undefined]);
    const rows = await db.select().from(sealedSecrets).where(eq(sealedSecrets.sessionId, run.sessionId));
    assert.equal(rows.length, 1);
    assert.ok(!JSON.stringify(rows).includes(SECOND));
  });

  test("a session without a callback has nothing to rotate", async () => {
    await db
      .update(sessions)
      .set({ callbackUrl: null, callbackEvents: null })
      .where(eq(sessions.id, run.sessionId));
    assert.equal(await rotate(SECOND), false);
    assert.equal(
      await rotateCallbackSecret({ db, sealer }, "ses_none", { secret: SECOND, overlapMs: 0 }),
      false,
    );
  });
});
