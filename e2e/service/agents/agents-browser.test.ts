import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { findTestChromium } from "#lib/browser/testing.ts";
import { openTestService, type TestService } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { readAgents, readResult, scriptByTask, spawn, submit, wait } from "./agents-testing.ts";

const { executablePath: BROWSER_EXECUTABLE_PATH } = findTestChromium();
let service: TestService;
const pages = createServer((request, response) => {
  response.setHeader("content-type", "text/html");
  response.end(`<title>${request.url}</title><h1>Page ${request.url}</h1>`);
});
let site = "";

before(async () => {
  await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
  site = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  service = await openTestService({ BROWSER_EXECUTABLE_PATH, SANDBOX: "unconfined" });
});
after(async () => {
  await service.close();
  pages.close();
});

const run = (script: string) => ({ name: "browser_execute", arguments: { script } });

describe("sub-agents with browsers", () => {
  it("start on their own page or share their parent's browser, and share the workspace", async () => {
    scriptByTask(service, {
      "lead browse": [
        { toolCalls: [{ name: "write_file", arguments: { path: "note.txt", content: "from the lead" } }] },
        {
          toolCalls: [
            spawn(
              { name: "own", objective: "visit own", browser: "own", url: `${site}/own` },
              { name: "shared", objective: "visit shared", browser: "shared" },
            ),
          ],
        },
        { toolCalls: [wait()] },
        { toolCalls: [run("return await page.title()")] },
        { toolCalls: [{ name: "list_evidence", arguments: {} }] },
      ],
      "visit own": [
        { toolCalls: [run("return await page.title()")] },
        { toolCalls: [{ name: "read_file", arguments: { path: "note.txt" } }] },
        { toolCalls: [{ name: "capture_preview", arguments: { title: "kept by the child" } }] },
        { toolCalls: [submit("own")] },
      ],
      "visit shared": [
        { toolCalls: [run(`await page.goto("${site}/left-by-child"); return await page.title()`)] },
        { toolCalls: [submit("shared")] },
      ],
    });
    const session = await service.create("lead browse", { subAgents: true, targetUrl: `${site}/lead` });
    await service.completed(session.statusUrl);
    assert.match(readResult(service, "visit own", 0), /\/own/);
    assert.match(readResult(service, "visit own", 1), /from the lead/);
    assert.match(readResult(service, "lead browse", 3), /\/left-by-child/);
    assert.match(readResult(service, "lead browse", 4), /kept by the child/);
    const [, shared] = await readAgents(service, session.sessionId);
    assert.equal(shared?.browserSessionId, session.sessionId);
    const { agents } = await service.read<{ agents: { name: string; liveViewUrl: string | null }[] }>(
      `/api/sessions/${session.sessionId}/agents`,
    );
    const url = agents.find(({ name }) => name === "shared")?.liveViewUrl;
    assert.ok(url?.startsWith(`${service.env.baseUrl}/s/${session.sessionId}/live?key=`), url ?? "null");
    const [end] = only(await readEvents(service, session.sessionId), "run.completed");
    assert.equal(end?.outcome, "succeeded");
  });
});
