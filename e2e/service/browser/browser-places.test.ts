import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { findTestChromium, startTestSite, waitFor } from "#lib/browser/testing.ts";
import { openTestService, type TestService } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";

const { executablePath: BROWSER_EXECUTABLE_PATH } = findTestChromium();
let site: Awaited<ReturnType<typeof startTestSite>>;
before(async () => {
  site = await startTestSite((request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(`<title>Page ${request.url}</title>`);
  });
});
after(() => site.close());

/** Waits up to two minutes for a condition, because several browsers start in these tests. */
const waitUntil = (condition: () => boolean | Promise<boolean>, what: string) =>
  waitFor(condition, what, 120_000);

const isCompleted = async (service: TestService, { statusUrl }: { statusUrl: string }) =>
  (await service.read<{ status: string }>(statusUrl)).status === "completed";

/** Scripts the model. Each session opens its own page, and its turn ends only after `mayEnd` has resolved. */
function script({ model }: TestService, mayEnd: Promise<unknown>): void {
  model.respondWith(({ userText, answersSoFar }) => {
    const [path] = /\/\d+/.exec(userText) ?? [];
    if (answersSoFar > 0) return { text: "Done.", hold: mayEnd };
    const code = `await page.goto("${site.origin}${path}"); return page.title();`;
    return { toolCalls: [{ name: "browser_execute", arguments: { script: code } }] };
  });
}

async function hasWaited(service: TestService, sessionId: string): Promise<boolean> {
  return only(await readEvents(service, sessionId), "browser.waiting").length > 0;
}

const readResults = async (service: TestService, sessionId: string) =>
  only(await readEvents(service, sessionId), "tool.result");

const readOutcomes = async (service: TestService, sessionId: string) =>
  only(await readEvents(service, sessionId), "run.completed").map(({ outcome }) => outcome);

test("five sessions at once with two browser places all succeed", async (t) => {
  const service = await openTestService({ BROWSER_EXECUTABLE_PATH, BROWSER_MAX_LIVE: "2" });
  t.after(() => service.close());
  const allWait = Promise.withResolvers<void>();
  script(service, allWait.promise);
  const sessions = await Promise.all([1, 2, 3, 4, 5].map((number) => service.create(`Open /${number}`)));
  const waiting = new Set<string>();
  await waitUntil(async () => {
    // Reads one session at a time, so that the service has enough free database connections.
    for (const { sessionId } of sessions)
      if (!waiting.has(sessionId) && (await hasWaited(service, sessionId))) waiting.add(sessionId);
    return waiting.size === 3;
  }, "three of them wait for a browser");
  const { browser } = service.container.services;
  await waitUntil(() => browser.describe().live === 2, "both places are used");
  allWait.resolve();
  for (const [index, session] of sessions.entries()) {
    const { sessionId } = session;
    await waitUntil(() => isCompleted(service, session), "the session has completed");
    assert.deepEqual(await readOutcomes(service, sessionId), ["succeeded"]);
    const [result] = await readResults(service, sessionId);
    assert.equal(result?.state, "succeeded");
    assert.ok(result?.preview.includes(`Page /${index + 1}`), result?.preview);
  }
});

test("a stop ends the wait for a browser, and the sessions behind it in the queue move up", async (t) => {
  const service = await openTestService({ BROWSER_EXECUTABLE_PATH, BROWSER_MAX_LIVE: "1" });
  t.after(() => service.close());
  const end = Promise.withResolvers<void>();
  script(service, end.promise);
  const first = await service.create("Open /1");
  await waitUntil(async () => (await readResults(service, first.sessionId)).length > 0, "the first page");
  const stopped = await service.create("Open /2");
  await waitUntil(() => hasWaited(service, stopped.sessionId), "the second session waits");
  const last = await service.create("Open /3");
  await waitUntil(() => hasWaited(service, last.sessionId), "the third session waits");

  const cancelled = await service.call("POST", `/api/sessions/${stopped.sessionId}/agent/cancel`, {});
  assert.equal(cancelled.status, 202);
  await service.completed(stopped.statusUrl);
  assert.deepEqual(await readOutcomes(service, stopped.sessionId), ["cancelled"]);
  const positions = async () =>
    only(await readEvents(service, last.sessionId), "browser.waiting").map(({ position }) => position);
  await waitUntil(async () => (await positions()).at(-1) === 1, "the third session is next");
  assert.deepEqual(await positions(), [2, 1]);
  end.resolve();
  await waitUntil(() => isCompleted(service, last), "the third session has completed");
  assert.deepEqual(await readOutcomes(service, last.sessionId), ["succeeded"]);
});

test("a call that waits for a browser runs once after a restart of the service", async (t) => {
  const variables = { BROWSER_EXECUTABLE_PATH, BROWSER_MAX_LIVE: "1" };
  const service = await openTestService(variables);
  script(service, new Promise(() => {}));
  const first = await service.create("Open /1");
  await waitUntil(async () => (await readResults(service, first.sessionId)).length > 0, "the first page");
  const second = await service.create("Open /2");
  await waitUntil(() => hasWaited(service, second.sessionId), "the second session waits");
  await service.close({ keepFiles: true });

  const restarted = await openTestService(variables, service.dataDir);
  t.after(() => restarted.close());
  script(restarted, Promise.resolve());
  await waitUntil(() => isCompleted(restarted, second), "the second session has completed");
  assert.deepEqual(await readOutcomes(restarted, second.sessionId), ["succeeded"]);
  const results = await readResults(restarted, second.sessionId);
  assert.deepEqual(
    results.map(({ state }) => state),
    ["succeeded"],
  );
  assert.ok(results[0]?.preview.includes("Page /2"));
});

/** Posts a browser action of the session page as a person whose share link has the role `drive`. */
async function openPage(
  service: TestService,
  session: { sessionId: string; shareUrl: string },
  action: string,
) {
  const token = new URL(session.shareUrl, service.env.baseUrl).searchParams.get("key");
  const headers = { authorization: "", cookie: `share=${token}`, origin: service.env.baseUrl };
  return service.call("POST", `/s/${session.sessionId}/actions/browser`, { action }, headers);
}

test("a person who restarts the browser is answered 202 while it waits for a place, or 503 with the reason", async (t) => {
  const service = await openTestService({ BROWSER_EXECUTABLE_PATH, BROWSER_MAX_LIVE: "1" });
  t.after(() => service.close());
  script(service, new Promise(() => {}));
  const first = await service.create("Open /1");
  await waitUntil(async () => (await readResults(service, first.sessionId)).length > 0, "the first page");
  service.model.respondWith(() => ({ text: "Done." }));
  const other = await service.create("Hello");
  await service.completed(other.statusUrl);
  for (const action of ["open", "reload"]) assert.equal((await openPage(service, other, action)).status, 202);
  await waitUntil(() => hasWaited(service, other.sessionId), "the session waits");

  const broken = await openTestService({ BROWSER_EXECUTABLE_PATH: "/bin/false" });
  t.after(() => broken.close());
  broken.model.respondWith(() => ({ text: "Done." }));
  const session = await broken.create("Hello");
  await broken.completed(session.statusUrl);
  for (const action of ["open", "reload"]) {
    const response = await openPage(broken, session, action);
    assert.equal(response.status, 503);
    const { code, error } = (await response.json()) as { code: string; error: string };
    assert.equal(code, "unavailable");
    assert.match(error, /^the browser ended at its start/);
  }
});
