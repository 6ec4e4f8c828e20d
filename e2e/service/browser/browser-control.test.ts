import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { connectClient, type TestClient } from "#lib/api/live/testing.ts";
import { findTestChromium, startTestSite } from "#lib/browser/testing.ts";
import type { DomainEvent } from "#lib/events/event.ts";
import { type HttpTestService, openHttpTestService } from "../http-testing.ts";
import { TEST_KEY, waitUntil } from "../testing.ts";
import { readStatus } from "../turn/turn-testing.ts";
import { checkWakes, readResults, sayAsPerson, untilParked } from "../waiting/waiting-testing.ts";

let service: HttpTestService;
let site: Awaited<ReturnType<typeof startTestSite>>;
/** The text in the field of the page, as the page reports it. */
let typed = "";
before(async () => {
  site = await startTestSite((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://site");
    if (pathname === "/typed") typed = searchParams.get("text") ?? "";
    response.writeHead(200, { "content-type": "text/html" });
    response.end(FORM);
  });
  service = await openHttpTestService({
    BROWSER_EXECUTABLE_PATH: findTestChromium().executablePath,
  });
});
after(async () => {
  await service.close();
  await site.close();
});

const FORM = `<title>Form</title>
  <label for=field>Full name</label><input id=field oninput="fetch('/typed?text=' + encodeURIComponent(value))">`;
const TYPE_ON = `await page.goto("SITE"); await page.focus("#field");
  for (;;) { await page.keyboard.type("a"); await page.waitForTimeout(20); }`;
const runScript = (script: string) => ({
  toolCalls: [{ name: "browser_execute", arguments: { script, timeoutMs: 120_000 } }],
});

const connect = (sessionId: string) =>
  connectClient(
    new WebSocket(`${service.baseUrl.replace("http", "ws")}/api/sessions/${sessionId}/live`, {
      headers: { "x-service-api-key": TEST_KEY },
    }),
  );
const idOf = ({ frames }: TestClient) =>
  frames.flatMap((frame) => (frame.type === "ready" ? [frame.data.connectionId] : []))[0];
const holdersOf = ({ frames }: TestClient) =>
  frames.flatMap((frame) => (frame.type === "control" ? [frame.data.holder] : []));

test("taking control stops the agent's script and parks its turn, and only the holder's input arrives", async () => {
  service.model.respondWith(({ answersSoFar }) => {
    if (answersSoFar === 0) return runScript(TYPE_ON.replace("SITE", site.origin));
    if (answersSoFar === 1) return runScript("return await page.inputValue('#field')");
    return { text: "Done." };
  });
  const { sessionId, shareUrl, statusUrl } = await service.create("Fill in the form");
  const [ada, bob] = [connect(sessionId), connect(sessionId)];
  await Promise.all([ada.ready(), bob.ready()]);
  const { log } = service.container.services;
  const readEvents = async () =>
    (await log.read(sessionId, { after: 0, limit: 1_000 })).map(
      ({ body }) => JSON.parse(body) as DomainEvent,
    );
  const resultsOf = async () => (await readEvents()).filter(({ kind }) => kind === "tool.result");
  await waitUntil(
    async () => (await readEvents()).some(({ kind }) => kind === "tool.call"),
    "the script runs",
  );
  await waitUntil(() => typed.includes("a"), "the script types");

  // A person's keys and the address bar have no effect while the agent has control.
  bob.send({ type: "input.text", text: "B" });
  await bob.settle();
  const cookie = `share=${new URL(shareUrl, service.baseUrl).searchParams.get("key")}`;
  const navigate = async (connectionId?: string) => {
    const body = { url: `${site.origin}/?moved`, ...(connectionId && { connectionId }) };
    const headers = { authorization: "", cookie, origin: service.env.baseUrl };
    const response = await service.call("POST", `/s/${sessionId}/actions/browser`, body, headers);
    return { status: response.status, ...((await response.json()) as { error?: string }) };
  };
  assert.match((await navigate(idOf(bob))).error ?? "", /^the agent has control/);

  ada.send({ type: "control.take" });
  await waitUntil(async () => (await resultsOf()).length === 1, "the script has ended");
  const [stopped] = await resultsOf();
  assert.ok(stopped?.kind === "tool.result");
  assert.deepEqual([stopped.state, stopped.interruptedBy], ["interrupted", "Someone"]);
  assert.match(stopped.preview, /^The script was interrupted by "Someone", a person who took control/);
  ada.send({ type: "input.text", text: "Ada" });
  bob.send({ type: "input.text", text: "Bob" });
  await Promise.all([ada.settle(), bob.settle()]);
  await waitUntil(() => typed.includes("Ada"), "the holder's text has arrived");
  assert.match(typed, /^a+Ada$/);
  assert.deepEqual([holdersOf(ada), holdersOf(bob)], [["you"], ["someone"]]);
  for (const other of [idOf(bob), undefined])
    assert.deepEqual(await navigate(other), {
      status: 409,
      success: false,
      code: "conflict",
      error: "someone else has control of the browser; take control first",
    });

  const readWait = async () =>
    (await service.read<{ waitingOn: unknown }>(`/api/sessions/${sessionId}/agent/status`)).waitingOn;
  await waitUntil(async () => (await readWait()) !== null, "the turn waits");
  const [waiting] = (await readEvents()).filter((event) => event.kind === "turn.waiting");
  assert.deepEqual(await readWait(), waiting?.waitingOn);
  const { since: _, ...waitingOn } = waiting?.waitingOn ?? {};
  assert.deepEqual(waitingOn, { kind: "control", ids: [], until: null });
  bob.send({ type: "control.take" });
  bob.send({ type: "input.text", text: "Bob" });
  await waitUntil(() => typed.endsWith("Bob"), "the new holder's text has arrived");
  ada.send({ type: "input.text", text: "Ada" });
  await ada.settle();
  assert.match(typed, /^a+AdaBob$/);
  assert.equal(
    (await readEvents()).filter(({ kind }) => kind === "tool.call").length,
    1,
    "the agent's turn still waits",
  );

  bob.send({ type: "control.release", note: "The name is complete" });
  await service.completed(statusUrl);
  const [, second] = await resultsOf();
  assert.ok(second?.kind === "tool.result" && second.state === "succeeded");
  assert.match(second.preview, /a+AdaBob/);
  // The model is told first what the people did, in the order in which they had control. Values are not named.
  assert.deepEqual(second.preview.split("\n").slice(0, 2), [
    `"Someone", a person, had control of the browser and lost it to "Someone": filled "Full name"; the page was then at "${site.origin}/".`,
    `"Someone", a person, had control of the browser and gave it back: filled "Full name"; the page was then at "${site.origin}/". Note from this person to you: "The name is complete"`,
  ]);
  const control = (await readEvents()).flatMap((event) =>
    event.kind === "control.taken" || event.kind === "control.ended" ? [event] : [],
  );
  assert.deepEqual(
    control.map((event) => (event.kind === "control.taken" ? event.from : event.reason)),
    [null, "taken", "Someone", "given_back"],
  );
  const ended = control.at(-1);
  assert.ok(ended?.kind === "control.ended");
  assert.deepEqual(
    [ended.fields, ended.clicks, ended.note, ended.address],
    [["Full name"], 0, "The name is complete", `${site.origin}/`],
  );
  // A person may navigate while no one has control and no turn runs.
  assert.deepEqual(await navigate(), { status: 202, success: true });
  ada.send({ type: "control.take" });
  await ada.settle();
  assert.deepEqual(await navigate(idOf(ada)), { status: 202, success: true });
  ada.socket.close();
  bob.socket.close();
});

test("a person is named by the label of their link, and keeps control over a lost connection until access is revoked", async () => {
  service.model.respondWith(() => ({ text: "Done." }));
  const { sessionId, statusUrl } = await service.create("Say done");
  await service.completed(statusUrl);
  const created = await service.call("POST", `/api/sessions/${sessionId}/share-links`, {
    role: "drive",
    label: "Ada",
  });
  const { shareUrl, record } = (await created.json()) as { shareUrl: string; record: { id: string } };
  const key = new URL(shareUrl, service.baseUrl).searchParams.get("key") ?? "";
  const url = `${service.baseUrl.replace("http", "ws")}/api/sessions/${sessionId}/live`;
  const visit = async () => {
    const client = connectClient(new WebSocket(url));
    await client.opened();
    client.send({ type: "auth", token: key });
    await client.ready();
    return client;
  };
  const tokenOf = ({ frames }: TestClient) =>
    frames.flatMap((frame) => (frame.type === "control.token" ? [frame.data.token] : [])).at(-1);
  const lastOf = ({ frames }: TestClient) =>
    frames.flatMap((frame) => (frame.type === "control" ? [frame.data] : [])).at(-1);

  const watcher = connect(sessionId);
  await watcher.ready();
  const ada = await visit();
  ada.send({ type: "control.take" });
  await watcher.until(() => lastOf(watcher)?.name === "Ada");
  await ada.until(() => tokenOf(ada) !== undefined);
  assert.equal(tokenOf(watcher), undefined, "only the holder gets the token");

  ada.socket.terminate();
  await watcher.until(() => lastOf(watcher)?.expiresBecause === "away");
  assert.equal(lastOf(watcher)?.holder, "someone");
  const again = await visit();
  again.send({ type: "control.resume", token: "guessed" });
  await again.settle();
  assert.equal(lastOf(again)?.holder, "someone");
  again.send({ type: "control.resume", token: tokenOf(ada) ?? "" });
  await again.until(() => lastOf(again)?.holder === "you");
  await watcher.until(() => lastOf(watcher)?.expiresBecause === null);

  assert.equal(
    (await service.call("DELETE", `/api/sessions/${sessionId}/share-links/${record.id}`)).status,
    200,
  );
  await watcher.until(() => lastOf(watcher)?.holder === null);
  assert.equal(lastOf(watcher)?.ended, "revoked");
  watcher.socket.close();
});

test("a script waits while a person has control; a message ends the wait, and a later script runs when control is free", async () => {
  const answer = Promise.withResolvers<void>();
  // One answer of the model calls both tools. The query must run after the script, although the script has to wait.
  const SCRIPT = {
    toolCalls: [
      ...runScript(`await page.goto("${site.origin}"); return "ran"`).toolCalls,
      { name: "dom_query", arguments: {} },
    ],
  };
  let steers = 0;
  service.model.respondWith(({ userText, answersSoFar }) => {
    if (userText.includes("hello")) return { text: "Hello." };
    if (userText.includes("Look first")) {
      steers = Math.max(steers, answersSoFar + 1);
      return answersSoFar === 0 ? SCRIPT : { text: "Done." };
    }
    return answersSoFar === 0 ? { ...SCRIPT, hold: answer.promise } : { text: "Done." };
  });
  const session = await service.create("hello");
  await service.completed(session.statusUrl);
  const turn = await sayAsPerson(service, session, { text: "Open the form" });
  await service.model.waitForRequest(({ userText }) => userText.includes("Open the form"));
  const ada = connect(session.sessionId);
  await ada.ready();
  ada.send({ type: "control.take" });
  await waitUntil(() => holdersOf(ada).includes("you"), "Ada has control");
  answer.resolve();
  const person = { ...session, turn };
  await untilParked(service, person);
  const status = await readStatus(service, session.sessionId);
  assert.deepEqual([status.waitingOn?.kind, status.waitingOn?.ids], ["control", []]);
  assert.deepEqual(await readResults(service, person), [], "the script has not run");

  await sayAsPerson(service, session, { text: "Look first", mode: "steer" });
  await waitUntil(async () => (await readResults(service, person)).length === 2, "the message is read");
  assert.match((await readResults(service, person))[0] ?? "", /^A person has control of the live browser/);
  await waitUntil(() => steers === 1, "the model has read it");
  await untilParked(service, person);
  ada.socket.close();
  await service.completed(turn.statusUrl);
  const { outcome, wakes } = await checkWakes(service, person);
  assert.deepEqual([outcome, wakes], ["succeeded", ["message", "settled"]]);
  const [, , script, look] = await readResults(service, person);
  assert.match(script ?? "", /ran/);
  assert.match(look ?? "", /Form/, "the query ran after the script");
});
