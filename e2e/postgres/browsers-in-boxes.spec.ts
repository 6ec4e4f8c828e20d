import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "@playwright/test";
import { WebSocket } from "ws";
import { API_KEY, type CreatedSession, userMessage, waitUntil } from "../fixtures/service.ts";
import { type RunningFunctions, startFunctions } from "../fixtures/start-functions.ts";
import type { RunningPages } from "../fixtures/start-pages.ts";

test.describe.configure({ mode: "serial" });

const PAGES_HOST = "pages.example";

let functions: RunningFunctions;
let first: RunningPages;
let second: RunningPages;
let site: Server;
let siteUrl: string;
let loads = 0;

test.beforeAll(async () => {
  site = createServer((visit, response) => {
    if (visit.url === "/shop" || visit.url === "/other") loads += 1;
    response
      .writeHead(200, { "content-type": "text/html" })
      .end(`<!doctype html><title>Shop</title><h1>Shop</h1><input aria-label=Name id=name>`);
  });
  await new Promise<void>((done) => site.listen(0, "127.0.0.1", done));
  // The cast is safe because a server that listens on TCP has an address with a port.
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  functions = await startFunctions({
    PUBLIC_PAGES_ORIGIN: `http://${PAGES_HOST}`,
    NETWORK_ALLOW: new URL(siteUrl).host,
  });
  ({ first, second } = functions);
});
test.afterAll(async () => {
  await functions?.close();
  site?.closeAllConnections();
  site?.close();
});

const read = async (from: RunningPages, path: string) =>
  (await (await functions.call(from, "GET", path)).json()) as Record<string, unknown>;

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
/** A script with deadlines that a busy machine keeps: an action has 10 s otherwise. */
const script = (text: string) => call("browser_execute", { script: text, timeoutMs: 100_000 });
const write = (path: string, content: string) => call("write_file", { path, content });

let session: CreatedSession;

test("a turn of several function calls keeps its page, with scripts, a variant, a landing page and test runs", async () => {
  const steps = [
    script(
      `await page.goto("${siteUrl}/shop"); await page.fill("#name", "Ada", { timeout: 60_000 }); return "filled";`,
    ),
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
  functions.model.respondWith(({ answersSoFar, toolResults }) => {
    results = toolResults;
    return steps[answersSoFar] ?? { text: "All is made." };
  });
  const created = await functions.call(first, "POST", "/api/session", { messages: [userMessage("Make it")] });
  expect(created.status).toBe(201);
  session = (await created.json()) as CreatedSession;
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
  const [run] = functions.inngest.runsOf("run-turn");
  expect(run?.steps.size, "calls of the turn's function").toBeGreaterThan(steps.length - 2);
  expect(functions.inngest.faults).toEqual([]);

  const path = /pages\.example(\/p\/[\w-]+\/)/.exec(text)?.[1] ?? "";
  const page = await visit(second, path);
  expect([page.status, page.body]).toEqual([200, expect.stringContaining("<title>Spring</title>")]);
  const elsewhere = await visit(second, path, new URL(second.baseUrl).host);
  expect(elsewhere.location).toBe(`http://${PAGES_HOST}${path}`);

  // The other function uses the same browser through a connection of its own.
  const browser = `/api/sessions/${session.sessionId}/browser`;
  const url = `${siteUrl}/other`;
  const retargeted = await functions.call(second, "POST", browser, { url });
  expect(retargeted.status).toBe(202);
  await waitUntil(
    async () => (await read(first, browser)).lastNavigatedUrl === url,
    "the browser shows the other page",
  );
  expect(functions.boxes.boxNames().filter((name) => name.startsWith("agent-"))).toHaveLength(1);
});

/** Connects to the live socket of the session at one instance. */
function watch(at: RunningPages) {
  const address = new URL(`/api/sessions/${session.sessionId}/live`, at.baseUrl.replace("http", "ws"));
  const socket = new WebSocket(address, { headers: { authorization: `Bearer ${API_KEY}` } });
  let pictures = 0;
  socket.on("open", () => socket.send(JSON.stringify({ type: "view.subscribe" })));
  socket.on("message", (_data, isBinary) => {
    if (isBinary) pictures += 1;
  });
  const closed = new Promise((done) => socket.once("close", done));
  return {
    pictures: () => pictures,
    async close() {
      socket.close();
      await closed;
    },
  };
}

test("both instances show the live view of one browser, whose page stays", async () => {
  const loadsBefore = loads;
  const viewers = [watch(first), watch(second)];
  await waitUntil(() => viewers.every(({ pictures }) => pictures() > 0), "both viewers have a picture");
  expect(loads).toBe(loadsBefore);
  await Promise.all(viewers.map((viewer) => viewer.close()));
});

test("an instance refuses a live socket with a wrong key, as it refuses a request", async () => {
  const address = new URL(`/api/sessions/${session.sessionId}/live`, first.baseUrl.replace("http", "ws"));
  const refused = new WebSocket(address, { headers: { authorization: "Bearer wrong" } });
  const error = await new Promise((done) => refused.once("error", done));
  expect(String(error)).toMatch(/401/);
});

test("the host of landing pages serves nothing else, and the slash at the end of other addresses is removed", async () => {
  for (const path of ["/", "/docs", "/login", "/s/ses_x", "/api/health", "/api/sessions", "/v/x.js"])
    expect([path, (await visit(first, path)).status]).toEqual([path, 404]);
  const own = new URL(first.baseUrl).host;
  expect(await visit(first, "/docs/?a=1", own)).toMatchObject({ status: 308, location: "/docs?a=1" });
  expect((await visit(first, "//other.example/", own)).location ?? "").not.toMatch(/^\/\/|^http/);
});
