import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Database } from "#db/client.ts";
import {
  deliveries,
  failingEndpoints,
  outbox,
  requests,
  runs,
  sealedSecrets,
  sessions,
} from "#db/schema/index.ts";
import type { CallbackEvent } from "#db/schema/unions.ts";
import { openTestDatabase, sessionRow } from "#db/testing.ts";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import { createGuardedPost } from "#lib/net/fetch/guarded-post.ts";
import { createSealer, type Sealer } from "#lib/secrets/sealer.ts";
import { newDeliveryId, newId } from "#lib/session/new-id.ts";
import { CALLBACK_SECRET, placeSecret } from "#lib/session/secrets/secret-names.ts";

/** One request that a receiver got. */
export type Received = { path: string; headers: IncomingHttpHeaders; body: Buffer };

/** Starts a receiver of callbacks on loopback. It stores each request, and `answer` sends the response. */
export async function startReceiver(answer: RequestListener) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({ path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks) });
    answer(request, response);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  return {
    received,
    url: `http://127.0.0.1:${port}/callbacks?from=service`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * Opens what tests of deliveries share: a database, a guarded post that may connect to loopback, and a receiver that
 * answers with `answer.status`. `reset` removes all sessions and endpoints, and sets that status to 500.
 */
export async function openDeliveryBench() {
  const { db, close: closeDatabase } = await openTestDatabase();
  const post = createGuardedPost(createAddressRule({ allow: ["127.0.0.1"] }));
  const answer = { status: 500 };
  const receiver = await startReceiver((_request, response) => response.writeHead(answer.status).end());
  return {
    db,
    post,
    receiver,
    answer,
    sealer: createSealer(new Uint8Array(32).fill(7)),
    async reset() {
      await db.delete(failingEndpoints);
      await db.delete(sessions);
      await db.delete(outbox);
      receiver.received.length = 0;
      answer.status = 500;
    },
    async close() {
      receiver.close();
      post.close();
      await closeDatabase();
    },
  };
}

/** Inserts a session with a callback and one run. */
export async function seedCallbackSession(
  db: Database,
  callback: { url: string; secret?: string; sealer: Sealer },
): Promise<{ sessionId: string; runId: string; requestId: string }> {
  const [sessionId, requestId, runId] = [newId("ses"), newId("req"), newId("run")];
  await db.insert(sessions).values(
    sessionRow({
      id: sessionId,
      callbackUrl: callback.url,
      callbackEvents: ["run.started", "run.completed"],
    }),
  );
  if (callback.secret !== undefined) {
    const place = placeSecret(sessionId, CALLBACK_SECRET);
    const sealed = callback.sealer.seal(place, callback.secret);
    await db.insert(sealedSecrets).values({ sessionId, name: CALLBACK_SECRET, sealed });
  }
  await db
    .insert(requests)
    .values({ id: requestId, sessionId, position: 1, mode: "queue", origin: "external", bodyHash: "hash" });
  await db.insert(runs).values({ id: runId, sessionId, requestId, attempt: 1, origin: "external" });
  return { sessionId, runId, requestId };
}

/** Inserts a delivery. Its body has whitespace and escapes that parsing and serializing would not preserve. */
export async function seedDelivery(
  db: Database,
  run: { sessionId: string; runId: string },
  event: CallbackEvent,
): Promise<string> {
  const id = newDeliveryId();
  const body = `{"event":"${event}",  "sessionId":"${run.sessionId}","data":{"kind":"${event}","n":1.0,"text":"Ö ✓ \\u2028"}}`;
  await db.insert(deliveries).values({ id, ...run, event, body, nextAttemptAt: new Date() });
  return id;
}
