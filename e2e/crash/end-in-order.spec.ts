import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { type CreatedSession, type RunningService, startService, waitUntil } from "../fixtures/service.ts";
import { listAlive, listDescendants, type ProcessId } from "./processes.ts";
import { haveEnded, type LogEvent, readLog } from "./read-log.ts";

// A service receives SIGTERM or SIGKILL while one of its turns streams, another runs a command and a third uses a
// browser.

let model: ScriptedModel;
let service: RunningService;

test.beforeAll(async () => {
  model = await startScriptedModel();
});
test.afterAll(() => model.close());
test.afterEach(() => service?.close());

const shell = { name: "run_shell", arguments: { command: "echo ran >> ran.txt; sleep 300" } };
const visit = `await page.goto(DEMO); await page.waitForTimeout(60_000);`;

/**
 * Starts a service with three busy sessions: the first streams text, the second runs a command, the third uses a
 * browser.
 */
async function startBusyService() {
  model.respondWith(({ userText, answersSoFar }) => {
    if (answersSoFar > 0) return { text: "Continued." };
    if (userText.includes("[shell]")) return { toolCalls: [shell] };
    if (!userText.includes("[browser]")) return undefined;
    const script = visit.replace("DEMO", JSON.stringify(`${service.baseUrl}/demo/index.html`));
    return { toolCalls: [{ name: "browser_execute", arguments: { script, timeoutMs: 90_000 } }] };
  });
  model.enqueue({ text: "A long answer. ".repeat(10), hold: "once" });
  service = await startService({ OPENAI_BASE_URL: model.baseUrl });
  const requestCount = model.requests.length;
  const streaming = await service.create("[stream] do it");
  await waitUntil(() => model.requests.length > requestCount, "the model streams");
  model.enqueue({ text: "A long answer. ".repeat(10) });
  const commanding = await service.create("[shell] do it");
  const browsing = await service.create("[browser] do it");
  await waitUntil(async () => {
    const { status, currentUrl } = await service.read(`/api/sessions/${browsing.sessionId}/browser`);
    return status === "ready" && currentUrl === `${service.baseUrl}/demo/index.html`;
  }, "the browser shows the page");
  await waitUntil(() => readRan(commanding).then(Boolean), "the command runs");
  const children = listDescendants(service.pid ?? 0);
  expect(children.map(({ name }) => name).join(" ")).toMatch(/chrom/i);
  return { streaming, commanding, browsing, children };
}

test("SIGTERM ends every process of the service, and the turns continue after the next start", async () => {
  const { children, ...sessions } = await startBusyService();
  await service.stop();
  await expectGone(children, 10_000);

  service = await startService({ OPENAI_BASE_URL: model.baseUrl }, { dataDir: service.dataDir });
  await expectContinued(sessions);
});

test("a kill -9 leaves no process of the service behind, and the turns continue after the next start", async () => {
  const { children, ...sessions } = await startBusyService();
  await service.kill();
  service = await startService({ OPENAI_BASE_URL: model.baseUrl }, { dataDir: service.dataDir });
  await expectGone(children, 10_000);
  await expectContinued(sessions);
});

test("after a kill -9 in the middle of a script, the turn continues on the same page, with what was typed", async () => {
  let loads = 0;
  const site = createServer((request, response) => {
    if (request.url === "/form") loads += 1;
    response
      .writeHead(200, { "content-type": "text/html" })
      .end("<title>Form</title><input aria-label=Name>");
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  const address = site.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/form`;
  const fill = `await page.goto(${JSON.stringify(url)}); await page.fill("input", "half"); await page.waitForTimeout(80_000);`;
  model.respondWith(({ answersSoFar }) => {
    const script = answersSoFar === 0 ? fill : "return await page.inputValue('input')";
    return answersSoFar < 2
      ? { toolCalls: [{ name: "browser_execute", arguments: { script, timeoutMs: 90_000 } }] }
      : { text: "Done." };
  });
  try {
    const variables = { OPENAI_BASE_URL: model.baseUrl, BROWSER_HOST_LINGER_MS: "60000" };
    service = await startService(variables);
    const session = await service.create("Fill in the form");
    await waitUntil(async () => {
      const { currentUrl } = await service.read(`/api/sessions/${session.sessionId}/browser`);
      return currentUrl === url;
    }, "the browser shows the form");
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await service.kill();
    service = await startService(variables, { dataDir: service.dataDir });
    const events = await readWhole(session);
    const results = events.filter(({ kind }) => kind === "tool.result");
    expect(results).toMatchObject([{ state: "failed" }, { state: "succeeded" }]);
    expect(JSON.stringify(results[1])).toContain("half");
    expect(loads).toBe(1);
  } finally {
    site.close();
  }
});

// Only the embedded database restricts a data folder to one process.
if ((process.env.TEST_DATABASE || "embedded") === "embedded") {
  test("a second process on the same data folder does not start, and names the folder and the first process", async () => {
    service = await startService({ OPENAI_BASE_URL: model.baseUrl });
    const second = startService({ OPENAI_BASE_URL: model.baseUrl }, { dataDir: service.dataDir });
    await expect(second).rejects.toThrow(
      new RegExp(`ended with 1:[^]*could not start[^]*${service.dataDir}[^]*process ${service.pid}`),
    );
    expect((await service.call("GET", "/api/ready")).status).toBe(200);
  });
}

async function expectContinued(sessions: Record<"streaming" | "commanding" | "browsing", CreatedSession>) {
  const streamed = await readWhole(sessions.streaming);
  expect(streamed.map(({ kind }) => kind)).toEqual([
    "run.started",
    "message.completed",
    "message.completed",
    "run.completed",
  ]);
  for (const name of ["commanding", "browsing"] as const) {
    const events = await readWhole(sessions[name]);
    expect(events.filter(({ kind }) => kind === "tool.result")).toMatchObject([{ state: "unknown" }]);
  }
  expect(await readRan(sessions.commanding)).toBe("ran\n");
}

async function readWhole({ sessionId }: CreatedSession): Promise<LogEvent[]> {
  const events = await readLog(service, sessionId, haveEnded(1));
  expect(events.filter(({ kind }) => kind === "run.started")).toHaveLength(1);
  // The loss of a browser may be recorded after the turn has ended.
  const last = events.findLast(({ kind }) => kind !== "browser.status");
  expect(last).toMatchObject({ kind: "run.completed", outcome: "succeeded" });
  return events;
}

const readRan = ({ sessionId }: CreatedSession) =>
  readFile(join(service.dataDir, "workspaces", sessionId, "ran.txt"), "utf8").catch(() => "");

const expectGone = (processes: ProcessId[], withinMs: number) =>
  expect.poll(() => listAlive(processes), { timeout: withinMs, intervals: [100] }).toEqual([]);
