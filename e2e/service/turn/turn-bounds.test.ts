import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { makeCertificate } from "#e2e/fixtures/make-certificate.ts";
import { startToolServer } from "#e2e/fixtures/mcp/start-tool-server.ts";
import { trustCertificate } from "#e2e/fixtures/trust-certificate.ts";
import { spawn, submit, wait } from "../agents/agents-testing.ts";
import { openTestService, type TestService } from "../testing.ts";
import { only, readEvents } from "./turn-testing.ts";

const certificate = makeCertificate();
let service: TestService;

before(async () => {
  trustCertificate(certificate);
  service = await openTestService({ SANDBOX: "unconfined" });
});
after(() => service.close());

describe("what a turn takes from tools", () => {
  it("is at most 128 tools and 256 KiB of their descriptions in a model call", async (t) => {
    const describeTools = (prefix: string, description: string) =>
      Array.from({ length: 200 }, (_, index) => ({ name: `${prefix}${index}`, description }));
    const many = await startToolServer({ certificate, tools: describeTools("a", "short") });
    const wordy = await startToolServer({ certificate, tools: describeTools("b", "x".repeat(10_000)) });
    t.after(() => Promise.all([many.close(), wordy.close()]));
    service.model.respondWith(() => ({ text: "Done." }));
    for (const [url, reason] of [
      [many.url, /a model call has room for 128 tools in all/],
      [wordy.url, /262144 bytes of descriptions/],
    ] as const) {
      const marker = `look ${crypto.randomUUID()}`;
      const session = await service.create(marker, { mcpServers: { crm: { url } } });
      await service.completed(session.statusUrl);
      const request = service.model.requests.find(({ userText }) => userText.includes(marker));
      assert.ok(request);
      assert.ok((request.body.tools as unknown[]).length <= 128);
      assert.ok(JSON.stringify(request.body.tools).length < 2 * 262_144);
      const skipped = only(await readEvents(service, session.sessionId), "mcp.skipped");
      assert.ok(
        skipped.some((each) => reason.test(each.reason)),
        JSON.stringify(skipped),
      );
    }
  });

  it("is a preview of 2,000 characters in an event", async () => {
    let calls = 0;
    const command = "head -c 5000 /dev/zero | tr '\\0' x";
    service.model.respondWith(() =>
      calls++ === 0 ? { toolCalls: [{ name: "run_shell", arguments: { command } }] } : { text: "Done." },
    );
    const session = await service.create("print");
    await service.completed(session.statusUrl);
    const [result] = only(await readEvents(service, session.sessionId), "tool.result");
    assert.equal(result?.preview.length, 2_000);
  });

  it("is at most 256 KiB as the result of a sub-agent", async () => {
    service.model.respondWith(({ userText, answersSoFar }) => {
      if (userText.includes("measure it"))
        return { toolCalls: [submit(answersSoFar === 0 ? "x".repeat(300_000) : "small")] };
      const steps = [{ toolCalls: [spawn({ objective: "measure it" })] }, { toolCalls: [wait()] }];
      return steps[answersSoFar] ?? { text: "Done." };
    });
    const session = await service.create("delegate", { subAgents: true });
    await service.completed(session.statusUrl);
    const requests = service.model.requests.filter(({ userText }) => userText.includes("measure it"));
    assert.match(
      requests.at(-1)?.toolResults[0] ?? "",
      /the result is 300002 bytes of JSON; at most 262144 are allowed/,
    );
    const parent = service.model.requests.findLast(({ userText }) => userText.includes("delegate"));
    assert.match(parent?.toolResults.at(-1) ?? "", /"small"/);
  });
});
