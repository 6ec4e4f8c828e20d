import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { makeCertificate } from "#e2e/fixtures/make-certificate.ts";
import { startToolServer, type ToolServer } from "#e2e/fixtures/mcp/start-tool-server.ts";
import { trustCertificate } from "#e2e/fixtures/trust-certificate.ts";
import { findTestChromium } from "#lib/browser/testing.ts";
import { spawn, submit, wait } from "./agents/agents-testing.ts";
import { namesIn, requestsOfAgent } from "./agents/tree-testing.ts";
import { listNames, type McpService, openMcpService } from "./mcp-server/builtin-mcp-testing.ts";
import { only, readEvents } from "./turn/turn-testing.ts";
import { actOnPage, playTurn, script, scriptTurn } from "./variants/variants-testing.ts";

/** Tools that the test deployment excludes from turns that no person started. */
const EXCLUDED = ["publish_variant", "deploy_landing_page", "apply_variant", "mcp_crm__pay"];
const certificate = makeCertificate();
const site = createServer((_request, response) => {
  response.setHeader("content-type", "text/html");
  response.end('<!doctype html><title>Shop</title><button id="pay">Pay</button>');
});
let mcp: McpService;
let crm: ToolServer;
let closed: ToolServer;
let profile: Record<string, unknown>;

before(async () => {
  trustCertificate(certificate);
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  const tools = [{ name: "find" }, { name: "pay" }];
  [crm, closed] = [
    await startToolServer({ certificate, tools }),
    await startToolServer({ certificate, tools }),
  ];
  mcp = await openMcpService({
    SANDBOX: "unconfined",
    BROWSER_EXECUTABLE_PATH: findTestChromium().executablePath,
    EXTERNAL_TURN_EXCLUDE: `${EXCLUDED.slice(0, 3).join(", ")},mcp_crm__p*,mcp_closed__*,update_plan`,
  });
  profile = {
    targetUrl: `http://127.0.0.1:${(site.address() as AddressInfo).port}/`,
    mcpServers: { crm: { url: crm.url }, closed: { url: closed.url } },
  };
});
after(async () => {
  await mcp.close();
  await Promise.all([crm.close(), closed.close()]);
  site.close();
});

/** The tools of the list that the model calls for messages with `marker` were offered, call by call. */
const offered = (marker: string) =>
  mcp.service.model.requests
    .filter(({ kind, userText }) => kind === "turn" && userText.includes(marker))
    .map((request) => EXCLUDED.filter((name) => namesIn(request).includes(name)));

async function say(session: { sessionId: string; shareUrl: string }, text: string, asPerson: boolean) {
  const posted = asPerson
    ? await actOnPage(mcp.service, session, "/messages", { text })
    : await mcp.service.call("POST", `/api/sessions/${session.sessionId}/agent/messages`, { text });
  const { statusUrl } = (await posted.json()) as { statusUrl: string };
  await mcp.service.completed(statusUrl, 60_000);
}

const PROBE = script("return typeof page.applyVariant");

describe("EXTERNAL_TURN_EXCLUDE", () => {
  it("withholds the tools from turns of programs and from retries, and a person's turn has them", async () => {
    const words = crypto.randomUUID();
    let failures = 0;
    mcp.service.model.respondWith(({ userText }) => {
      const fails = userText.includes("fail once") && failures++ === 0;
      return fails ? { status: 503, message: "overloaded" } : { text: "Done." };
    });
    const session = await mcp.service.create(`first ${words}`, profile);
    await mcp.service.completed(session.statusUrl);
    await say(session, `program ${words}`, false);
    await say(session, `person ${words}`, true);
    await say(session, `person, fail once ${words}`, true);
    assert.deepEqual(offered(`first ${words}`), [[]]);
    assert.deepEqual(offered(`program ${words}`), [[]]);
    assert.deepEqual(offered(`person ${words}`), [EXCLUDED]);
    assert.deepEqual(offered(`fail once ${words}`), [EXCLUDED, []], "a retry is not started by a person");
    const origins = only(await readEvents(mcp.service, session.sessionId), "run.started");
    assert.deepEqual(
      origins.map(({ origin }) => origin),
      ["external", "external", "person", "person", "retry"],
    );
    assert.equal(crm.messages("tools/call").length, 0);
  });

  it("contacts no server whose tools are all excluded, and leaves planning tools", async () => {
    const marker = `look ${crypto.randomUUID()}`;
    mcp.service.model.respondWith(() => ({ text: "Done." }));
    const before = closed.requests.length;
    const session = await mcp.service.create(marker, profile);
    await mcp.service.completed(session.statusUrl);
    const request = mcp.service.model.requests.find(({ userText }) => userText.includes(marker));
    assert.ok(request);
    const names = namesIn(request);
    assert.ok(names.includes("update_plan") && names.includes("mcp_crm__find"));
    assert.equal(closed.requests.length, before);
    const path = `/api/sessions/${session.sessionId}`;
    const { session: read } = await mcp.service.read<{ session: { tools: object } }>(path);
    assert.deepEqual(read.tools, { include: [], exclude: [], externalTurnExclude: [] });
  });

  it("adds to the list of a session", async () => {
    const marker = `both ${crypto.randomUUID()}`;
    mcp.service.model.respondWith(() => ({ text: "Done." }));
    const session = await mcp.service.create(marker, {
      ...profile,
      tools: { externalTurnExclude: ["mcp_crm__find"] },
    });
    await mcp.service.completed(session.statusUrl);
    const request = mcp.service.model.requests.find(({ userText }) => userText.includes(marker));
    assert.ok(request);
    assert.ok(!namesIn(request).some((name) => name.startsWith("mcp_crm__")));
  });

  it("applies to a sub-agent of a person's turn", async () => {
    const session = await mcp.service.create("say hello", { ...profile, subAgents: true });
    await mcp.service.completed(session.statusUrl);
    mcp.service.model.respondWith(({ userText, answersSoFar }) => {
      if (userText.includes("count it")) return { toolCalls: [submit("done")] };
      const steps = [
        { toolCalls: [spawn({ name: "counter", objective: "count it" })] },
        { toolCalls: [wait()] },
      ];
      return userText.includes("lead it") ? (steps[answersSoFar] ?? { text: "Done." }) : { text: "Done." };
    });
    await say(session, "lead it", true);
    assert.deepEqual(offered("lead it")[0], EXCLUDED);
    const [child] = requestsOfAgent(mcp.service, "counter");
    assert.ok(child);
    assert.deepEqual(
      EXCLUDED.filter((name) => namesIn(child).includes(name)),
      [],
    );
    assert.ok(namesIn(child).includes("mcp_crm__find"));
  });

  it("applies to the holder of an MCP token", async () => {
    mcp.service.model.respondWith(() => ({ text: "Done." }));
    const session = await mcp.service.create("say hello", profile);
    const names = await listNames(await mcp.connect(await mcp.requestToken(session.sessionId)));
    assert.ok(names.includes("screenshot") && !names.includes("apply_variant"));
  });

  it("removes page.applyVariant from scripts, and a person's turn has it", async () => {
    const { session, results } = await playTurn(mcp.service, [PROBE], profile);
    assert.match(results[0] ?? "", /undefined/);
    const marker = `person ${crypto.randomUUID()}`;
    scriptTurn(mcp.service, marker, [PROBE]);
    await say(session, marker, true);
    const request = mcp.service.model.requests.findLast(({ userText }) => userText.includes(marker));
    assert.match(request?.toolResults.at(-1) ?? "", /function/);
  });
});
