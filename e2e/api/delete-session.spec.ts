import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { WebSocket } from "ws";
import { logIn } from "../fixtures/log-in.ts";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { API_KEY, type RunningService, startService, waitUntil } from "../fixtures/service.ts";
import { expectBare, expectRefusal } from "./expect-refusal.ts";

let service: RunningService;
let model: ScriptedModel;

test.beforeAll(async () => {
  model = await startScriptedModel({
    script: {
      rules: [
        {
          when: "[work]",
          steps: [
            { toolCalls: [{ name: "screenshot", arguments: {} }] },
            { toolCalls: [{ name: "run_shell", arguments: { command: "echo $$ > pid; sleep 300" } }] },
            { text: "Done." },
          ],
        },
      ],
      otherwise: { text: "Done." },
    },
  });
  service = await startService({ OPENAI_BASE_URL: model.baseUrl, SANDBOX: "unconfined" });
});
test.afterAll(async () => {
  await service.close();
  await model.close();
});

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test("DELETE ends the turn, its command and its browser, and closes streams and sockets; every path is then 404", async () => {
  const created = await service.create("[work] hard", { targetUrl: `${service.baseUrl}/demo` });
  const { sessionId } = created;
  const path = `/api/sessions/${sessionId}`;
  const socket = new WebSocket(`${service.baseUrl.replace("http", "ws")}${path}/live`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  const closed = new Promise<number>((done) => socket.once("close", done));
  const stream = service.call("GET", created.streamUrl).then((response) => response.text());
  const pidFile = join(service.dataDir, "workspaces", sessionId, "pid");
  const pid = async () => Number(await readFile(pidFile, "utf8").catch(() => "0"));
  await waitUntil(async () => (await pid()) > 0, "the command runs");
  const command = await pid();
  expect(await service.read(`${path}/browser`)).toMatchObject({ status: "ready" });
  const share = await fetch(service.baseUrl + created.shareUrl, { redirect: "manual" });
  const cookie = share.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  expect((await fetch(`${service.baseUrl}/s/${sessionId}`, { headers: { cookie } })).status).toBe(200);

  const answer = await service.call("DELETE", path);
  expect(answer.status).toBe(200);
  expect((await answer.json()).deleted).toMatchObject({
    sessions: 1,
    evidence: 1,
    workspaces: 1,
    browsers: 1,
  });

  expect(await closed).toBe(4004);
  expect(await stream).toContain("event: tool.call");
  await waitUntil(() => !isAlive(command), "the command has ended");
  for (const folder of ["workspaces", "evidence"])
    expect(await readdir(join(service.dataDir, folder)), folder).not.toContain(sessionId);
  await expectRefusal(await service.call("GET", `${path}/browser`), 404, "not_found");
  await expectBare(
    await service.call("POST", `${path}/annotations/webhook`, { event: "submit", annotations: [] }),
    404,
    "not found",
  );
  for (const path of [`/s/${sessionId}`, `/s/${sessionId}/live`, created.shareUrl.replace("?", "/live?")]) {
    const page = await fetch(service.baseUrl + path, { headers: { cookie } });
    expect(page.status, path).toBe(404);
  }
  const upgraded = new WebSocket(`${service.baseUrl.replace("http", "ws")}${path}/live`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  const refused = await new Promise<number | undefined>((done) => {
    upgraded.once("unexpected-response", (_request, response) => done(response.statusCode));
    upgraded.once("error", () => {});
  });
  expect(refused).toBe(404);
  await expectRefusal(await service.call("DELETE", path), 404, "not_found", "no such session");
});

test("an API key that the operator creates works at once within its scopes, until it is revoked", async () => {
  const cookie = await logIn(service.loginUrl);
  const operate = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(service.baseUrl + path, {
      method,
      headers: { cookie, origin: service.baseUrl, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
  const creation = await operate("POST", "/actions/keys", {
    ownerId: "tests",
    name: "a reader",
    scopes: ["sessions:read"],
  });
  expect(creation.status).toBe(201);
  const { key, record } = creation.body;
  const withKey = { authorization: `Bearer ${key}` };
  expect((await service.call("GET", "/api/sessions", undefined, withKey)).status).toBe(200);
  await expectRefusal(
    await service.call("POST", "/api/session", {}, withKey),
    403,
    "forbidden",
    "this API key lacks the scope sessions:write",
  );
  const listed = await operate("GET", "/actions/keys?owner=tests");
  expect(listed.body.data).toEqual([{ ...record, lastUsedAt: expect.stringMatching(/Z$/) }]);
  expect((await operate("DELETE", `/actions/keys/${record.id}`)).status).toBe(200);
  await expectRefusal(await service.call("GET", "/api/sessions", undefined, withKey), 401, "unauthorized");
});
