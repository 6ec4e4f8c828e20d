import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { makeCertificate } from "#e2e/fixtures/make-certificate.ts";
import {
  startToolServer,
  type ToolServer,
  type ToolServerOptions,
} from "#e2e/fixtures/mcp/start-tool-server.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { trustCertificate } from "#e2e/fixtures/trust-certificate.ts";
import { openTestService, type TestService } from "../testing.ts";
import { only, readEvents } from "./turn-testing.ts";

const certificate = makeCertificate();
const closing: ToolServer[] = [];
let service: TestService;

before(async () => {
  trustCertificate(certificate);
  service = await openTestService({ SANDBOX: "none" });
});
after(async () => {
  await service.close();
  for (const server of closing) await server.close();
});

async function start(options: ToolServerOptions): Promise<ToolServer> {
  const server = await startToolServer({ certificate, ...options });
  closing.push(server);
  return server;
}

/** Makes the model call `echo` once in each turn. */
const callOnce = (to: TestService) =>
  to.model.respondWith(
    ({ answersSoFar }): Step =>
      answersSoFar % 2 === 0
        ? { toolCalls: [{ name: "mcp_crm__echo", arguments: { a: 1 } }] }
        : { text: "Done." },
  );

it("a session remembers which revision its tool servers speak, also after a restart", async () => {
  const servers = [
    await start({ tools: [{ name: "echo" }], speaks: "stateless" }),
    await start({ tools: [{ name: "echo" }] }),
  ];
  const first = await openTestService({ SANDBOX: "none" });
  callOnce(first);
  const sessions = await Promise.all(
    servers.map(({ url }) => first.create("use the crm", { mcpServers: { crm: { url } } })),
  );
  for (const { statusUrl } of sessions) await first.completed(statusUrl);
  await first.close({ keepFiles: true });
  const second = await openTestService({ SANDBOX: "none" }, first.dataDir);
  callOnce(second);
  for (const [index, { sessionId }] of sessions.entries()) {
    const posted = await second.call("POST", `/api/sessions/${sessionId}/agent/messages`, { text: "again" });
    await second.completed(((await posted.json()) as { statusUrl: string }).statusUrl);
    const results = only(await readEvents(second, sessionId), "tool.result");
    assert.deepEqual(
      results.map(({ state }) => state),
      ["succeeded", "succeeded"],
    );
    const server = servers[index];
    assert.equal(server?.messages("tools/list").length, 2);
    assert.equal(server?.messages("server/discover").length, 1);
  }
  await second.close();
});
