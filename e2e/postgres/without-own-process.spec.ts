import { randomBytes } from "node:crypto";
import { expect, test } from "@playwright/test";
import { startTestPostgres, type TestPostgres } from "#db/postgres-testing.ts";
import { type InngestStandIn, startInngestStandIn } from "#inngest/testing/start-inngest-stand-in.ts";
import { followUntil } from "../api/read-stream.ts";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { API_KEY, type CreatedSession, userMessage, waitUntil } from "../fixtures/service.ts";
import { callPages } from "../fixtures/start-functions.ts";
import { type RunningPages, startPages } from "../fixtures/start-pages.ts";

// Runs the service in the way Vercel does: only Next, without a disk, with a Postgres server and with an Inngest server
// over HTTP. These tests do not cover the browser, the sandbox and the platform's sockets.
test.describe.configure({ mode: "serial" });

let postgres: TestPostgres;
let model: ScriptedModel;
let inngest: InngestStandIn;
let pages: RunningPages;

test.beforeAll(async () => {
  [postgres, model, inngest] = await Promise.all([
    startTestPostgres(),
    startScriptedModel(),
    startInngestStandIn(),
  ]);
  pages = await startPages({
    ...inngest.variables,
    DATABASE_URL: postgres.url,
    ENCRYPTION_KEY: randomBytes(32).toString("base64"),
    SERVICE_API_KEYS: `tests=${API_KEY}`,
    BROWSER_CDP_URL: "ws://127.0.0.1:9/never-used",
    SANDBOX: "none",
    OPENAI_BASE_URL: model.baseUrl,
    AGENT_MODEL: "scripted",
    // With this budget, each call of the Inngest function plays only one step of a turn.
    TURN_BUDGET_MS: "1",
    LOG_LEVEL: "warn",
  });
});
test.afterAll(async () => {
  await pages?.close();
  await inngest?.close();
  await model?.close();
  await postgres?.stop();
});

const call = (method: string, path: string, body?: unknown) => callPages(pages, method, path, body);
const read = async (path: string) => (await (await call("GET", path)).json()) as Record<string, unknown>;

let session: CreatedSession;

test("the engine's route registers the functions, and refuses calls without a signature with 401", async () => {
  const registered = await fetch(new URL("/api/inngest", pages.baseUrl), { method: "PUT" });
  expect(registered.status).toBe(200);
  const forged = await fetch(
    new URL("/api/inngest?fnId=agent-session-service-run-turn&stepId=step", pages.baseUrl),
    {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ event: { name: "turn/run.requested", data: { runId: "run_x" } } }),
    },
  );
  expect(forged.status).toBe(401);
});

test("several function calls play a session's turn, each within its time budget", async () => {
  model.respondWith(({ answersSoFar }) =>
    answersSoFar < 2 ? { toolCalls: [{ name: "list_transcript", arguments: {} }] } : { text: "Played." },
  );
  const created = await call("POST", "/api/session", { messages: [userMessage("Play")] });
  expect(created.status).toBe(201);
  session = (await created.json()) as CreatedSession;
  const events = await followUntil(await call("GET", session.streamUrl), () => false);
  expect(events[0]?.event).toBe("run.started");
  expect(events.at(-1)?.data).toMatchObject({ kind: "run.completed", outcome: "succeeded" });
  await waitUntil(
    async () => (await read(session.statusUrl)).status === "completed",
    "the request is completed",
  );
  const status = await read(`/api/sessions/${session.sessionId}/agent/status`);
  expect(status).toMatchObject({ turnState: "idle", lastRunId: session.runId });
  const [run] = inngest.runsOf("run-turn");
  expect(run?.steps.size, "steps of the function run").toBeGreaterThan(1);
  expect(inngest.faults).toEqual([]);
});

test("requests send the jobs of an outage, and register the functions with a server that lost its state", async () => {
  // An instance looks at the server at most once a minute, and only while it gets requests.
  model.respondWith(() => ({ text: "Played after the outage." }));
  await inngest.stop();
  const created = await call("POST", "/api/session", { messages: [userMessage("Wait for the server")] });
  expect(created.status).toBe(201);
  const waiting = (await created.json()) as CreatedSession;
  await inngest.restart();
  expect(inngest.isRegistered()).toBe(false);
  await waitUntil(
    async () => (await read(waiting.statusUrl)).status === "completed",
    "the request is completed",
    170_000,
  );
  expect(inngest.isRegistered()).toBe(true);
});

test("a share link sets a cookie that opens the session page, which has its own content security policy", async ({
  page,
}) => {
  const errors: string[] = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  const response = await page.goto(pages.baseUrl + session.shareUrl);
  expect(page.url()).toBe(`${pages.baseUrl}/s/${session.sessionId}`);
  expect(response?.headers()["content-security-policy"]).toMatch(/'nonce-.+' 'strict-dynamic'/);
  expect(response?.headers()["cross-origin-opener-policy"]).toBe("same-origin");
  const data = await call("GET", session.statusUrl);
  expect(data.headers.get("cross-origin-resource-policy")).toBe("same-origin");
  expect(data.headers.get("x-content-type-options")).toBe("nosniff");
  await expect(page.getByText("Played.")).toBeVisible();
  expect(errors.filter((text) => /content security policy/i.test(text))).toEqual([]);
});

test("an answer link shows its item, with its own content security policy, and settles it", async ({
  page,
}) => {
  const question = { name: "elicit_user_input", arguments: { question: "Which colour?" } };
  model.respondWith(({ answersSoFar }) =>
    answersSoFar === 0 ? { toolCalls: [question] } : { text: "Thank you." },
  );
  const messages = [userMessage("Ask")];
  const created = await call("POST", "/api/session", { messages, interaction: { mode: "ask" } });
  const { sessionId, statusUrl } = (await created.json()) as CreatedSession;
  let link: URL | undefined;
  await waitUntil(async () => {
    const { data } = (await read(`/api/sessions/${sessionId}/inbox?state=open`)) as {
      data: { answerUrl: string }[];
    };
    link = data[0] && new URL(data[0].answerUrl);
    return link !== undefined;
  }, "the turn waits");
  const response = await page.goto(`${pages.baseUrl}${link?.pathname}${link?.search}`);
  expect(response?.status()).toBe(200);
  const headers = response?.headers() ?? {};
  expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect([headers["cache-control"], headers["referrer-policy"]]).toEqual(["no-store", "no-referrer"]);
  expect(headers["cross-origin-opener-policy"]).toBe("same-origin");
  await page.getByLabel("Your answer").fill("red");
  await page.getByRole("button", { name: "Send answer" }).click();
  await expect(page.getByRole("heading", { name: "Your answer was sent" })).toBeVisible();
  await waitUntil(async () => (await read(statusUrl)).status === "completed", "the request is completed");
  const wrong = await page.goto(`${pages.baseUrl}${link?.pathname}?key=wrong`);
  expect(wrong?.status()).toBe(404);
});

test("the reference can be kept by a cache: it depends on no cookie and no query, and has no nonce", async () => {
  const read = async (path: string, headers: Record<string, string>) => {
    const answer = await fetch(`${pages.baseUrl}${path}`, { headers });
    return { answer, html: await answer.text() };
  };
  const { answer, html } = await read("/docs", {});
  expect(answer.status).toBe(200);
  expect(answer.headers.get("cdn-cache-control")).toBe("public, max-age=3600");
  expect(answer.headers.get("content-security-policy")).toContain("script-src 'none'; style-src 'self';");
  expect(html).not.toContain("nonce=");
  const other = await read(`/docs?${"a[b]=1&".repeat(1_000)}`, { cookie: "theme=dark" });
  expect(other.html).not.toContain('data-theme="dark"');
  expect(other.html).not.toContain("a[b]");
});

test("the session page is 404 without the cookie, and for a wrong link", async ({ page }) => {
  expect((await page.goto(`${pages.baseUrl}/s/${session.sessionId}`))?.status()).toBe(404);
  expect((await page.goto(`${pages.baseUrl}/s/${session.sessionId}?key=wrong`))?.status()).toBe(404);
});

test("a service with missing settings answers 500, and its log names all of them", async () => {
  const bare = await startPages({ DATABASE_URL: postgres.url });
  const answer = await fetch(new URL("/api/sessions", bare.baseUrl), {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  expect(answer.status).toBe(500);
  expect(await answer.json()).toMatchObject({ success: false, code: "internal" });
  for (const name of [
    "INNGEST_SIGNING_KEY",
    "ENCRYPTION_KEY",
    "SERVICE_API_KEYS",
    "BROWSER_CDP_URL",
    "SANDBOX",
  ])
    expect(bare.output()).toContain(name);
  await bare.close();
});
