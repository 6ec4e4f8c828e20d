import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { WebSocket } from "ws";
import { withAddress } from "#lib/security-log/request-address.ts";
import { type HttpTestService, openHttpTestService } from "../http-testing.ts";
import { TEST_KEY, userMessage, waitUntil } from "../testing.ts";

let service: HttpTestService;
before(async () => {
  service = await openHttpTestService({ NETWORK_ALLOW: "" });
  service.model.respondWith(({ userText, answersSoFar }) =>
    userText.includes("fetch it") && answersSoFar === 0
      ? {
          toolCalls: [{ name: "fetch_url", arguments: { url: "http://10.1.2.3/secret?token=canary-query" } }],
        }
      : { text: "Done." },
  );
});
after(() => service.close());

/** Reads the lines of the security log that record this event, without their `time`. */
async function readEvents(event: string) {
  const lines = await service.readSecurityLog();
  return lines.filter((line) => line.event === event).map(({ time: _, ...line }) => line);
}

const address = "127.0.0.1";

const request = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
  fetch(service.baseUrl + path, {
    method,
    headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
    redirect: "manual",
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

/**
 * Like `request`, but calls the operation directly in this process. Over HTTP, Next would serve these operations, and
 * Next does not run in the tests.
 */
const operate = async (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
  withAddress(address, () => service.call(method, path, body, { authorization: "", ...headers }));

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const SECRET = "canarySecretOfTheKeyThatIsWrong_0123456789";

const logIn = (token: string) => request("POST", "/login", { origin: service.baseUrl }, { token });

async function signIn(): Promise<Record<string, string>> {
  const { login } = service.container.services;
  const response = await logIn(login.issueToken());
  const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
  return { cookie, origin: service.baseUrl };
}

describe("the security log of a service", () => {
  it("records the isolation of the sandbox at the start", async () => {
    const [started, ...others] = await readEvents("service.started");
    assert.deepEqual(others, []);
    const { kind } = service.container.services.testRuns.sandbox.describe();
    const { isolation } = service.container.describe();
    assert.match(isolation, /^commands: .*; scripts: /);
    assert.deepEqual(
      [started?.log, started?.outcome, started?.sandbox, started?.isolation, started?.networkAllow],
      ["security", "success", kind, isolation, ""],
    );
    assert.equal(typeof started?.browser, "string");
  });

  it("records logins, failed logins, and refused operations of the operator", async () => {
    await signIn();
    await logIn("canary-login");
    await operate("POST", "/actions/keys", { origin: service.baseUrl }, { ownerId: "acme", name: "x" });
    const [succeeded] = await readEvents("login.succeeded");
    assert.deepEqual([succeeded?.actor, succeeded?.address], ["operator", address]);
    const failed = await readEvents("login.failed");
    assert.deepEqual([failed.length, failed[0]?.address, failed[0]?.outcome], [1, address, "failure"]);
    const [refused] = await readEvents("operator.refused");
    assert.deepEqual([refused?.operation, refused?.address], ["POST /actions/keys", address]);
  });

  it("records the creation, rotation, revocation and refusal of keys, and refusals by scope", async () => {
    const operator = await signIn();
    const wanted = { ownerId: "owner", name: "of the test", scopes: ["sessions:read"] };
    const { key, record } = await (await operate("POST", "/actions/keys", operator, wanted)).json();
    await request("POST", "/api/session", bearer(key), {});
    const rotated = await (await operate("POST", `/actions/keys/${record.id}/rotate`, operator, {})).json();
    await operate("DELETE", `/actions/keys/${record.id}`, operator);
    for (const wrong of [key, `ask_${record.id}_${SECRET}`, SECRET])
      assert.equal((await request("GET", "/api/sessions", bearer(wrong))).status, 401);
    assert.equal((await request("GET", "/api/sessions", {})).status, 401);

    const common = { level: 30, log: "security", outcome: "success", address };
    const [created] = await readEvents("api_key.created");
    const { msg: _, actor, ...fields } = created ?? {};
    assert.match(String(actor), /^operator:lgn_[a-z0-9]{24}$/);
    const ofKey = { keyId: record.id, ownerId: "owner" };
    assert.deepEqual(fields, { ...common, event: "api_key.created", ...ofKey, scopes: ["sessions:read"] });
    const [rotation] = await readEvents("api_key.rotated");
    assert.deepEqual([rotation?.keyId, rotation?.successorId], [record.id, rotated.record.id]);
    const [revoked] = await readEvents("api_key.revoked");
    assert.deepEqual([revoked?.actor, revoked?.keyId, revoked?.ownerId], [actor, record.id, "owner"]);
    const [scope] = await readEvents("scope.refused");
    assert.deepEqual(
      [scope?.actor, scope?.operation, scope?.needed, scope?.outcome],
      [`key:${record.id}`, "POST /api/session", "sessions:write", "refused"],
    );
    const refused = await readEvents("api_key.refused");
    assert.deepEqual(
      refused.map(({ keyId, address: from }) => [keyId, from]),
      [
        [record.id, address],
        [record.id, address],
        [undefined, address],
      ],
      "a call without a key is not recorded",
    );
  });

  it("records the creation, revocation and refusal of share links, refusals by role, and refused user tokens", async () => {
    const { sessionId } = await service.create("hello");
    const at = `/api/sessions/${sessionId}`;
    const answer = await (
      await request("POST", `${at}/share-links`, bearer(TEST_KEY), { role: "view" })
    ).json();
    const link = new URL(answer.shareUrl, service.baseUrl);
    const entered = await request("GET", link.pathname + link.search, {});
    const cookie = entered.headers
      .getSetCookie()
      .find((each) => each.includes("Path=/s/"))
      ?.split(";")[0];
    await operate(
      "POST",
      `/s/${sessionId}/actions/messages`,
      { cookie: cookie ?? "", origin: service.baseUrl },
      {},
    );
    await request("DELETE", `${at}/share-links/${answer.record.id}`, bearer(TEST_KEY));
    assert.equal(
      (await request("GET", `/s/${sessionId}/live`, { cookie: cookie ?? "" })).status >= 400,
      true,
    );
    await request("GET", `/s/${sessionId}?key=canary-share-token`, {});
    await request("POST", `${at}/share-links/revoke-all`, bearer(TEST_KEY));
    await request(
      "POST",
      "/api/mcp",
      { ...bearer("ust1.canaryclaims.canarymac"), accept: "application/json" },
      {},
    );

    const [created] = await readEvents("share_link.created");
    assert.match(String(created?.actor), /^key:settings:/);
    assert.deepEqual(
      [created?.sessionId, created?.linkId, created?.role],
      [sessionId, answer.record.id, "view"],
    );
    const [revoked] = await readEvents("share_link.revoked");
    assert.deepEqual([revoked?.sessionId, revoked?.linkId], [sessionId, answer.record.id]);
    const refused = await readEvents("share_token.refused");
    assert.ok(
      refused.length >= 2 &&
        refused.every((line) => line.sessionId === sessionId && line.address === address),
    );
    const byRole = (await readEvents("scope.refused")).find(
      (line) => line.actor === `share:${answer.record.id}`,
    );
    assert.equal(byRole?.sessionId, sessionId);
    assert.equal((await readEvents("share_link.all_revoked"))[0]?.sessionId, sessionId);
    assert.equal((await readEvents("user_token.refused"))[0]?.address, address);
  });

  it("records the address of a refused first frame of a socket", async () => {
    const before = (await readEvents("api_key.refused")).length;
    const { sessionId } = await service.create("hello");
    const socket = new WebSocket(`${service.baseUrl.replace("http", "ws")}/api/sessions/${sessionId}/live`);
    socket.on("open", () => socket.send(JSON.stringify({ type: "auth", token: SECRET })));
    await new Promise((resolve) => socket.once("close", resolve));
    assert.equal((await readEvents("api_key.refused"))[before]?.address, address);
  });

  it("records refusals of the network guard, with the session and without path and query", async () => {
    const callback = { url: "http://169.254.169.254/latest?token=canary-query" };
    const refused = await service.call("POST", "/api/session", {
      messages: [userMessage("hello")],
      callback,
    });
    assert.equal(refused.status, 400);
    const { sessionId, statusUrl } = await service.create("fetch it");
    await service.completed(statusUrl);
    const lines = await readEvents("network.refused");
    assert.deepEqual(
      lines.map(({ source, host, sessionId: of }) => [source, host, of]),
      [
        ["callback", "169.254.169.254", undefined],
        ["fetch_url", "10.1.2.3", sessionId],
      ],
    );
    assert.match(String(lines[1]?.reason), /^10\.1\.2\.3 is /);
    assert.equal(lines[1]?.address, undefined);
  });

  it("records ended logins, replaced secrets, enabled callbacks, changed budgets and sealed secrets", async () => {
    const operator = await signIn();
    const other = await signIn();
    const { data } = await (await operate("GET", "/actions/logins", other)).json();
    const { id } = data.find(({ isCurrent }: { isCurrent: boolean }) => isCurrent);
    assert.equal((await operate("DELETE", `/actions/logins/${id}`, operator)).status, 200);
    assert.equal((await operate("POST", "/actions/encryption/rotate", operator, {})).status, 200);
    assert.equal((await operate("POST", "/actions/logout", operator)).status, 200);
    const callback = { url: "https://receiver.invalid/hook?token=canary-query", secret: SECRET };
    const { sessionId } = await service.create("hello", { callback });
    const at = `/api/sessions/${sessionId}`;
    const secret = `${SECRET}-of-the-rotation`;
    assert.equal((await service.call("POST", `${at}/callback/secret`, { secret })).status, 200);
    assert.equal((await service.call("POST", `${at}/callback/enable`, {})).status, 200);
    assert.equal((await service.call("PATCH", `${at}/budget`, { tokens: 5_000 })).status, 200);

    const ended = await readEvents("login.ended");
    assert.deepEqual(
      ended.map(({ actor, loginId }) => [actor === `operator:${loginId}`, loginId === id]),
      [
        [false, true],
        [true, false],
      ],
    );
    assert.equal((await readEvents("encryption_key.rotated")).length, 1);
    const [rotated] = await readEvents("callback_secret.rotated");
    const [enabled] = await readEvents("callback.enabled");
    const [changed] = await readEvents("budget.changed");
    for (const line of [rotated, enabled, changed]) {
      assert.match(String(line?.actor), /^key:settings:/);
      assert.equal(line?.sessionId, sessionId);
    }
    assert.equal(enabled?.host, "receiver.invalid");
    assert.deepEqual([changed?.usd, changed?.tokens, changed?.minutes], [null, 5_000, null]);
  });

  it("records deletions by a caller, and the verified erasure", async () => {
    const { sessionId, statusUrl } = await service.create("hello");
    await service.completed(statusUrl);
    await service.call("DELETE", `/api/sessions/${sessionId}`);
    await waitUntil(
      async () => (await readEvents("erasure.verified")).length === 1,
      "the erasure was verified",
    );
    const [removed] = await readEvents("session.removed");
    assert.match(String(removed?.actor), /^key:settings:/);
    assert.deepEqual([removed?.sessionId, removed?.sessions], [sessionId, 1]);
    assert.equal((await readEvents("erasure.verified"))[0]?.sessionId, sessionId);
  });

  it("contains no secret, token or query of a request", async () => {
    const text = JSON.stringify(await service.readSecurityLog());
    assert.ok(text.length > 1_000);
    assert.doesNotMatch(text, /canary/i);
    assert.ok(!text.includes(TEST_KEY));
  });
});
