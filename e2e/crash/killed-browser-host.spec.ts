import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { type CreatedSession, type RunningService, startService, waitUntil } from "../fixtures/service.ts";
import { listAlive, listDescendants, type ProcessId } from "./processes.ts";
import { haveEnded, readLog } from "./read-log.ts";

// The browser host of a service is a process of its own. The service is killed in the middle of a script, then the host,
// and then both.
test.describe.configure({ mode: "serial" });

const requests: string[] = [];
let site: Server;
let url: string;
let model: ScriptedModel;
let service: RunningService;
let session: CreatedSession;
const seen: ProcessId[] = [];

const countOf = (path: string) => requests.filter((each) => each === path).length;
const run = (script: string) => ({ toolCalls: [{ name: "browser_execute", arguments: { script } }] });
const READ = "return [page.url(), await page.inputValue('#name')].join(' ')";
const LONG = `await page.fill('#name', 'half filled');
  await page.evaluate(() => fetch('/ran'));
  await page.waitForTimeout(25_000);`;

const settings = () => ({ OPENAI_BASE_URL: model.baseUrl, BROWSER_HOST_LINGER_MS: "60000" });
const restart = async () => {
  service = await startService(settings(), { dataDir: service.dataDir, port: service.port });
};

test.beforeAll(async () => {
  site = createServer(({ url: path = "" }, response) => {
    requests.push(path);
    response.setHeader("content-type", "text/html").end("<title>Form</title><input id=name aria-label=Name>");
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/form`;
  model = await startScriptedModel({
    script: {
      rules: [
        { when: "[third]", steps: [run(READ), { text: "Third." }] },
        { when: "[second]", steps: [run(READ), { text: "Second." }] },
        { when: "[first]", steps: [run(LONG), run(READ), { text: "First." }] },
      ],
    },
  });
  service = await startService(settings());
});
test.afterAll(async () => {
  await service.close();
  await model.close();
  site.closeAllConnections();
  site.close();
});

/** Finds the host of the service by the file to which it logs. It stays when the service is killed. */
function findHost(): number {
  const log = `${service.dataDir}/host-`;
  const found = readdirSync("/proc").find((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const isHost = readFileSync(`/proc/${name}/cmdline`, "utf8").includes("host-worker");
      return isHost && readlinkSync(`/proc/${name}/fd/2`).startsWith(log);
    } catch {
      return false; // The process has ended, or belongs to another user.
    }
  });
  if (found === undefined) throw new Error("the service has no browser host");
  return Number(found);
}

/** Kills the host. @returns the processes that it had started. */
function killHost(): ProcessId[] {
  const pid = findHost();
  const children = listDescendants(pid);
  expect(children.some(({ name }) => /chrom/i.test(name))).toBe(true);
  process.kill(pid, "SIGKILL");
  return children;
}

const expectEnd = (processes: ProcessId[]) =>
  waitUntil(() => listAlive(processes).length === 0, "the processes of the killed host have ended");

async function readResults(count: number) {
  const events = await readLog(service, session.sessionId, haveEnded(count));
  return events.filter(({ kind }) => kind === "tool.result");
}

async function followUp(text: string): Promise<string> {
  const path = `/api/sessions/${session.sessionId}/agent`;
  await service.call("POST", `${path}/messages`, { text });
  await waitUntil(
    async () => (await service.read<{ turnState: string }>(`${path}/status`)).turnState === "idle",
    `the turn of ${text} has ended`,
  );
  return model.requests.findLast(({ userText }) => userText.includes(text))?.toolResults.at(-1) ?? "";
}

test("a turn whose service was killed in a script continues on the page as it was", async () => {
  session = await service.create("[first] fill in the form", { targetUrl: url });
  await waitUntil(() => countOf("/ran") === 1, "the script runs");
  seen.push(...listDescendants(findHost()));
  await service.kill();
  await restart();
  await service.completed(session.statusUrl);
  const [interrupted, read] = await readResults(1);
  expect(interrupted).toMatchObject({ toolName: "browser_execute" });
  expect(interrupted?.state).not.toBe("unknown");
  expect(read).toMatchObject({ toolName: "browser_execute", state: "succeeded" });
  const last = model.requests.findLast(({ userText }) => userText.includes("[first]"));
  expect(last?.toolResults.at(-1)).toContain(`${url} half filled`);
  expect([countOf("/form"), countOf("/ran")]).toEqual([1, 1]);
});

test("a host that was killed is replaced, and the agent learns that the page was opened again", async () => {
  const children = killHost();
  const result = await followUp("[second]");
  expect(result).toContain("The browser was restarted");
  expect(result).not.toContain("half filled");
  expect(countOf("/form")).toBe(2);
  await expectEnd(children);
});

test("a service and its host that were killed together are replaced", async () => {
  await service.kill();
  const children = killHost();
  await restart();
  expect(await followUp("[third]")).toContain("The browser was restarted");
  expect(countOf("/form")).toBe(3);
  await expectEnd(children);
});

test("nothing of a host remains when its data folder is deleted", async () => {
  seen.push(...listDescendants(findHost()));
  await service.close();
  await waitUntil(() => listAlive(seen).length === 0, "the processes of the host have ended");
});
