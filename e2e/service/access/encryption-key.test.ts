import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startReceiver } from "#e2e/fixtures/receiver.ts";
import { signBody } from "#lib/callback/sign-body.ts";
import { runKeysCommand } from "#lib/commands/keys/run-key-command.ts";
import { openOperatorClient } from "#lib/commands/open-operator-client.ts";
import { listToolsRequest } from "../mcp-server/list-tools-request.ts";
import { openTestService, say, type TestService, userMessage, waitUntil } from "../testing.ts";

// An operator replaces ENCRYPTION_KEY. Everything continues to work while ENCRYPTION_KEY_PREVIOUS contains the old key.
// After the operator has removed ENCRYPTION_KEY_PREVIOUS, share links and MCP tokens that were issued under the old key
// stop working.

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)].map((key) => key.toString("base64"));
const SECRET = "shh";
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let service: TestService;
let dataDir: string;

before(async () => {
  receiver = await startReceiver([200]);
  service = await openTestService({ ENCRYPTION_KEY: OLD ?? "" });
  dataDir = service.dataDir;
  service.model.respondWith(() => say("Done."));
});
after(async () => {
  await service.close();
  await receiver.close();
});

/** Restarts the service on the same data with these environment variables. */
async function restart(variables: Record<string, string>): Promise<void> {
  await service.close({ keepFiles: true });
  service = await openTestService(variables, dataDir);
  service.model.respondWith(() => say("Done."));
}

async function roleOf(sessionId: string, shareUrl: string): Promise<string | undefined> {
  const token = new URL(shareUrl, service.env.baseUrl).searchParams.get("key") ?? "";
  return (await service.container.services.shares.readAccess(sessionId, token))?.role;
}

/** Calls the built-in MCP server with a token. @returns the status of the response. */
async function askMcp(token: string): Promise<number> {
  const response = await service.container.mounted.serveMcp(
    new Request(new URL("/api/mcp", service.env.baseUrl), listToolsRequest(token)),
  );
  await response.text();
  return response.status;
}

/** Redelivers the newest callback of a session. @returns the request that the receiver got. */
async function redeliver(sessionId: string) {
  const { data } = await service.read<{ data: { id: string }[] }>(`/api/sessions/${sessionId}/deliveries`);
  const count = receiver.received.length;
  const path = `/api/sessions/${sessionId}/deliveries/${data[0]?.id}/redeliver`;
  assert.equal((await service.call("POST", path)).status, 202);
  await waitUntil(() => receiver.received.length > count, "the callback was sent again");
  return receiver.received.at(-1);
}

async function rotateEncryption() {
  const desk = await openOperatorClient(service.env);
  return runKeysCommand(desk, { kind: "rotate-encryption" }).finally(desk.close);
}

test("a rotation of ENCRYPTION_KEY keeps secrets, links and tokens valid, and re-encrypts all stored values", async () => {
  const body = {
    messages: [userMessage("hello")],
    idempotencyKey: "once",
    callback: { url: `${receiver.url}?token=canary`, secret: SECRET },
  };
  const create = async () => (await service.call("POST", "/api/session", body)).json();
  const { sessionId, shareUrl, statusUrl } = await create();
  await service.completed(statusUrl);
  await waitUntil(() => receiver.received.length === 2, "both callbacks have arrived");
  const minted = await (await service.call("POST", `/api/sessions/${sessionId}/mcp-token`)).json();
  assert.equal(await askMcp(minted.token), 200);

  await restart({ ENCRYPTION_KEY: NEW ?? "", ENCRYPTION_KEY_PREVIOUS: OLD ?? "" });
  assert.equal(await roleOf(sessionId, shareUrl), "drive");
  assert.equal(await askMcp(minted.token), 200);
  const signed = await redeliver(sessionId);
  assert.equal(signed?.headers["x-service-signature"], signBody(SECRET, Buffer.from(signed?.body ?? "")));
  const replayed = await create();
  assert.equal(replayed.sessionId, sessionId);
  assert.notEqual(replayed.shareUrl, shareUrl, "a replay returns the link of the new key");

  const rotated = await rotateEncryption();
  assert.equal(rotated.lines[0], "2 stored values were encrypted with the current ENCRYPTION_KEY.");
  assert.match(rotated.lines[1] ?? "", /^0 are left\. .* share links and MCP tokens .* stop working\.$/);
  assert.equal(rotated.isDone, true);
  assert.match((await rotateEncryption()).lines[0] ?? "", /^0 stored values were encrypted/);

  await restart({ ENCRYPTION_KEY: NEW ?? "" });
  const again = await redeliver(sessionId);
  assert.equal(again?.headers["x-service-signature"], signed?.headers["x-service-signature"]);
  assert.equal(await roleOf(sessionId, shareUrl), undefined, "a link of the old key ends with that key");
  assert.equal(await roleOf(sessionId, replayed.shareUrl), "drive");
  assert.equal(await askMcp(minted.token), 401);

  await restart({ ENCRYPTION_KEY: Buffer.alloc(32, 3).toString("base64") });
  const lost = await rotateEncryption();
  assert.equal(lost.isDone, false);
  assert.match(
    lost.lines.join("\n"),
    /^0 stored .*\n2 are left\. 2 of them .* not configured: name that key in ENCRYPTION_KEY_PREVIOUS\.\n/,
  );
});
