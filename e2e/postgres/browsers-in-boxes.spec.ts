import { randomBytes } from "node:crypto";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "@playwright/test";
import { startTestPostgres, type TestPostgres } from "#db/postgres-testing.ts";
import { type InngestStandIn, startInngestStandIn } from "#inngest/testing/start-inngest-stand-in.ts";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { API_KEY, type CreatedSession, userMessage, waitUntil } from "../fixtures/service.ts";
import { type RunningPages, startPages } from "../fixtures/start-pages.ts";
import {
  type StandInWithSnapshot,
  startWithSnapshot,
} from "../fixtures/vercel-sandbox/start-with-snapshot.ts";

// Runs the service in the way Vercel does, with the browser of each session in a Vercel Sandbox: only Next, twice, with a
// Postgres server, an Inngest server over HTTP, and boxes that are folders and processes of this machine.
test.describe.configure({ mode: "serial" });

const PAGES_HOST = "pages.example";

let postgres: TestPostgres;
let model: ScriptedModel;
let inngest: InngestStandIn;
let boxes: StandInWithSnapshot;
let site: Server;
let siteUrl: string;
let loads = 0;
let first: RunningPages;
let second: RunningPages;

test.beforeAll(async () => {
  site = createServer((visit, response) => {
    if (visit.url === "/shop") loads += 1;
    response
      .writeHead(200, { "content-type": "text/html" })
      .end("<!doctype html><title>Shop</title><h1>Shop</h1><input aria-label=Name id=name>");
  });
  await new Promise<void>((done) => site.listen(0, "127.0.0.1", done));
  // The cast is safe because a server that listens on TCP has an address with a port.
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  [postgres, model, inngest, boxes] = await Promise.all([
    startTestPostgres(),
    startScriptedModel(),
    startInngestStandIn(),
    startWithSnapshot(),
  ]);
  const variables = {
    ...inngest.variables,
    ...boxes.variables,
    DATABASE_URL: postgres.url,
    ENCRYPTION_KEY: randomBytes(32).toString("base64"),
    SERVICE_API_KEYS: `tests=${API_KEY}`,
    SANDBOX: "vercel",
    VERCEL_SANDBOX_SNAPSHOT: boxes.snapshotId,
    PUBLIC_PAGES_ORIGIN: `http://${PAGES_HOST}`,
    NETWORK_ALLOW: new URL(siteUrl).host,
    OPENAI_BASE_URL: model.baseUrl,
    AGENT_MODEL: "scripted",
    // With this budget, each call of the Inngest function plays only one step of a turn.
    TURN_BUDGET_MS: "1",
    LOG_LEVEL: "warn",
  };
  first = await startPages(variables);
  second = await startPages(variables);
  await fetch(new URL("/api/inngest", first.baseUrl), { method: "PUT" });
});
test.afterAll(async () => {
  await Promise.all([first?.close(), second?.close()]);
  await inngest?.close();
  await model?.close();
  await boxes?.close();
  await postgres?.stop();
  site?.close();
});

const headers = { authorization: `Bearer ${API_KEY}` };
const read = async (from: RunningPages, path: string) =>
  (await (await fetch(new URL(path, from.baseUrl), { headers })).json()) as Record<string, unknown>;

/** Sends a request whose path is not normalized. @param host by default the host of landing pages. */
const visit = (from: RunningPages, path: string, host = PAGES_HOST) =>
  new Promise<{ status: number | undefined; location: string | undefined; body: string }>((done, fail) => {
    const sent = request({ port: new URL(from.baseUrl).port, path, headers: { host } }, async (response) => {
      let body = "";
      for await (const data of response) body += data;
      done({ status: response.statusCode, location: response.headers.location, body });
    });
    sent.on("error", fail).end();
  });

const call = (name: string, input: Record<string, unknown> = {}) => ({
  toolCalls: [{ name, arguments: input }],
});
const script = (text: string) => call("browser_execute", { script: text });
const write = (path: string, content: string) => call("write_file", { path, content });

test("a turn of several function calls keeps its page, with scripts, a variant, a landing page and test runs", async () => {
  const steps = [
    script(`await page.goto("${siteUrl}/shop"); await page.fill("#name", "Ada"); return "filled";`),
    script('return "the name is " + await page.inputValue("#name")'),
    call("apply_variant", { baseRevision: 0, add: [{ op: "setText", selector: "h1", text: "Sale" }] }),
    script('return "the heading is " + await page.textContent("h1")'),
    call("run_shell", {
      command: "mkdir site && echo '<!doctype html><title>Spring</title>' > site/index.html",
    }),
    call("deploy_landing_page", { folder: "site" }),
    write(
      "tests/shop.spec.ts",
      `import { expect, test } from "@playwright/test";
      test("the shop opens", async ({ page }) => {
        await page.goto("${siteUrl}/");
        await expect(page.getByRole("heading")).toHaveText("Shop");
      });`,
    ),
    call("run_tests", { files: ["tests/shop.spec.ts"] }),
    call("wait_for_test_results"),
    { text: "All is made." },
  ];
  let results: string[] = [];
  model.respondWith(({ answersSoFar, toolResults }) => {
    results = toolResults;
    return steps[answersSoFar] ?? { text: "All is made." };
  });
  const created = await fetch(new URL("/api/session", first.baseUrl), {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ messages: [userMessage("Make it")] }),
  });
  expect(created.status).toBe(201);
  const session = (await created.json()) as CreatedSession;
  await waitUntil(
    async () => (await read(first, session.statusUrl)).status === "completed",
    "the request is completed",
    120_000,
  );
  const text = results.join("\n---\n");
  expect(text).toContain("the name is Ada");
  expect(text).toContain("the heading is Sale");
  expect(text).toContain("passed, revision 1 of variant main. 2 passed.");
  expect(loads, "loads of the page").toBe(1);
  const [run] = inngest.runsOf("run-turn");
  expect(run?.steps.size, "calls of the turn's function").toBeGreaterThan(steps.length - 2);
  expect(inngest.faults).toEqual([]);

  const path = /pages\.example(\/p\/[\w-]+\/)/.exec(text)?.[1] ?? "";
  const page = await visit(second, path);
  expect([page.status, page.body]).toEqual([200, expect.stringContaining("<title>Spring</title>")]);
  const elsewhere = await visit(second, path, new URL(second.baseUrl).host);
  expect(elsewhere.location).toBe(`http://${PAGES_HOST}${path}`);

  // The other function uses the same browser through a connection of its own.
  const browser = `/api/sessions/${session.sessionId}/browser`;
  const url = `${siteUrl}/other`;
  const retargeted = await fetch(new URL(browser, second.baseUrl), {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ url }),
  });
  expect(retargeted.status).toBe(202);
  await waitUntil(
    async () => (await read(first, browser)).lastNavigatedUrl === url,
    "the browser shows the other page",
  );
  expect(boxes.boxNames().filter((name) => name.startsWith("agent-"))).toHaveLength(1);
});

test("the host of landing pages serves nothing else, and the slash at the end of other addresses is removed", async () => {
  for (const path of ["/", "/docs", "/login", "/s/ses_x", "/api/health", "/api/sessions", "/v/x.js"])
    expect([path, (await visit(first, path)).status]).toEqual([path, 404]);
  const own = new URL(first.baseUrl).host;
  expect(await visit(first, "/docs/?a=1", own)).toMatchObject({ status: 308, location: "/docs?a=1" });
  expect((await visit(first, "//other.example/", own)).location ?? "").not.toMatch(/^\/\/|^http/);
});
