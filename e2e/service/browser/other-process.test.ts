import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sharp from "sharp";
import { browserHosts } from "#db/schema/index.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { createPerson, PILL, SUBMIT, takeControl } from "#lib/browser/overlay/overlay-testing.ts";
import type { HttpTestService } from "../http-testing.ts";
import { callTool, connectMcp, readText } from "../mcp-server/builtin-mcp-testing.ts";
import { runOnPage } from "../page-testing.ts";
import { waitUntil } from "../testing.ts";
import { only, readEvents, readStatus } from "../turn/turn-testing.ts";
import {
  actOnPage,
  openSite,
  readRevision,
  script,
  step,
  storeVariant,
} from "../variants/variants-testing.ts";
import { openTwoServices, type TwoServices, watchLive } from "./two-services-testing.ts";

// One of two services plays a turn, which has filled half of a form, and everything is asked of the other one. The page
// must stay: it counts its loads.

/** The counter belongs to the tab, and so starts again in another browser. */
const PAGE = `<!doctype html><title>Shop</title><h1>Shop</h1><input id="name"><button id="pay">Pay</button>
  <script>sessionStorage.loads = 1 + Number(sessionStorage.loads ?? 0);</script>`;
const FILL = script("await page.fill('#name', 'half'); await page.focus('#name');");
const WAIT = step("browser_execute", {
  script: "await page.evaluate(() => fetch('/waits').then(() => {})); await page.waitForTimeout(100_000);",
  timeoutMs: 120_000,
});
const READ =
  "return page.evaluate(() => [sessionStorage.loads, document.querySelector('#name').value].join())";

let site: Awaited<ReturnType<typeof openSite>>;
let both: TwoServices;
let services: TwoServices["services"];
/** Number of scripts that have begun to wait. */
let waits = 0;
/** The steps of each turn, by a text in its message. */
const turns = new Map<string, Step[]>();

before(async () => {
  site = await openSite((request, response) => {
    if (request.url === "/waits") waits += 1;
    response.setHeader("content-type", "text/html").end(PAGE);
  });
  both = await openTwoServices(turns);
  ({ services } = both);
});
after(async () => {
  await both?.close();
  site?.close();
});

type Turn = {
  session: Awaited<ReturnType<HttpTestService["create"]>>;
  owner: HttpTestService;
  other: HttpTestService;
  /** Continues the turn, and waits for its end. @returns what the page has: its number of loads and the text of the field. */
  finish: () => Promise<string>;
};

/**
 * Starts a turn that fills half of the form, takes these steps, and then waits for `finish` before it reads the page.
 * Resolves when the form is filled.
 */
async function startTurn(steps: Step[] = []): Promise<Turn> {
  const marker = `task ${crypto.randomUUID()}`;
  const hold = Promise.withResolvers<void>();
  turns.set(marker, [FILL, ...steps, { ...script(READ), hold: hold.promise }]);
  const [first] = services;
  const session = await first.create(marker, { targetUrl: `${site.url}/` });
  const isAsked = ({ model }: HttpTestService) =>
    model.requests.some(({ userText, answersSoFar }) => userText.includes(marker) && answersSoFar === 1);
  await waitUntil(() => services.some(isAsked), "the form is filled");
  const owner = services.find(isAsked) ?? assert.fail();
  const other = both.otherThan(owner);
  return {
    session,
    owner,
    other,
    async finish() {
      hold.resolve();
      await other.completed(session.statusUrl);
      const results = only(await readEvents(other, session.sessionId), "tool.result");
      const last = results.at(-1);
      return /Result: (\S+)/.exec(last?.preview ?? "")?.[1] ?? JSON.stringify(last);
    },
  };
}

const readResults = async ({ other, session }: Turn) =>
  only(await readEvents(other, session.sessionId), "tool.result");

test("the live view, a take-over, input and a give-back work, and the turn continues on the page", async () => {
  const before = waits;
  const turn = await startTurn([WAIT]);
  const { session, owner, other } = turn;
  const person = await watchLive(other, session.sessionId);
  await person.until(() => person.pictures.length > 0);
  await waitUntil(() => waits > before, "the script waits on the page");
  person.send({ type: "control.take" });
  await waitUntil(async () => (await readResults(turn)).length === 2, "the script was stopped");
  const interrupted = (await readResults(turn))[1];
  assert.deepEqual([interrupted?.state, interrupted?.interruptedBy], ["interrupted", "Someone"]);
  assert.match(interrupted?.preview ?? "", /^The script was interrupted by "Someone"/);
  await person.until(() =>
    person.frames.some((frame) => frame.type === "control" && frame.data.holder === "you"),
  );
  person.send({ type: "input.text", text: "-more" });
  await person.settle();
  const finished = turn.finish();
  await waitUntil(
    async () => (await readStatus(owner, session.sessionId)).waitingOn?.kind === "control",
    "the turn waits for the person",
  );
  person.send({ type: "control.release" });
  assert.equal(await finished, "1,half-more");
  person.socket.close();
});

test("a retarget keeps the browser, and the agent continues on the new page", async () => {
  const turn = await startTurn();
  const { session, owner, other } = turn;
  const path = `/api/sessions/${session.sessionId}/browser`;
  const retarget = async (url: string) => {
    assert.equal((await other.call("POST", path, { url })).status, 202);
    await waitUntil(
      async () => (await owner.read<{ lastNavigatedUrl: string }>(path)).lastNavigatedUrl === url,
      `${url} is reached`,
    );
  };
  await retarget(`${site.url}/#part`);
  assert.equal(await runOnPage(other, session.sessionId, READ), "1,half");
  await retarget(`${site.url}/other`);
  assert.equal(await turn.finish(), "2,");
  assert.equal(await runOnPage(owner, session.sessionId, "return page.url()"), `${site.url}/other`);
});

test("a stop ends the turn and its script, and the page stays", async () => {
  const before = waits;
  const turn = await startTurn([WAIT]);
  const { session, other } = turn;
  await waitUntil(() => waits > before, "the script waits on the page");
  assert.equal((await other.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`)).status, 202);
  await other.completed(session.statusUrl);
  const [end] = only(await readEvents(other, session.sessionId), "run.completed");
  assert.equal(end?.outcome, "cancelled");
  assert.equal(await runOnPage(other, session.sessionId, READ), "1,half");
});

test("a comment in the overlay is stored", async () => {
  const turn = await startTurn();
  const { session, owner, other } = turn;
  const { browser } = other.container.services;
  const holder = await takeControl(browser, session.sessionId);
  const person = createPerson(holder, session.sessionId);
  const isButton = async ({ x, y }: typeof PILL) =>
    (await browser.readCursor(session.sessionId, x, y)) === "pointer";
  await waitUntil(() => isButton(PILL), "the overlay is in the page");
  await person.addComment({ x: 20, y: 40 }, "Larger");
  await waitUntil(() => isButton(SUBMIT), "the submit button");
  await person.click(SUBMIT);
  const list = `/api/sessions/${session.sessionId}/annotations`;
  const read = async () => (await owner.read<{ data: { annotations: { comment: string }[] }[] }>(list)).data;
  await waitUntil(async () => (await read()).length === 1, "the comment is stored");
  assert.equal((await read())[0]?.annotations[0]?.comment, "Larger");
  await holder.giveBack();
  assert.equal(await turn.finish(), "1,half");
});

test("tools, a preview of a variant and its check work on the page", async () => {
  const turn = await startTurn();
  const { session, owner, other } = turn;
  const { sessionId } = session;
  const issued = await other.call("POST", `/api/sessions/${sessionId}/mcp-token`);
  const { token } = (await issued.json()) as { token: string };
  const client = await connectMcp(`${other.baseUrl}/api/mcp`, token);
  const use = async (name: string, input: Record<string, unknown> = {}) =>
    readText(await callTool(client, name, input));
  assert.match(await use("dom_query"), /button "Pay"/);
  const [, picture] = /(evi_\w+)/.exec(await use("screenshot")) ?? [];
  await checkPicture(owner, sessionId, picture);

  await storeVariant(other, sessionId, `${site.url}/`);
  const text = "return page.textContent('#pay')";
  await waitUntil(
    async () => (await runOnPage(owner, sessionId, text)) === "Pay now",
    "the variant is shown",
  );
  const previews = [{ title: "Shop", url: `${site.url}/`, variant: "main" }];
  assert.match(await use("set_previews", { previews }), /^1 of 1 previews has its picture\./);
  await client.close();
  const { data } = await owner.read<{ data: { evidence: { id: string } | null }[] }>(
    `/api/sessions/${sessionId}/previews`,
  );
  await checkPicture(owner, sessionId, data[0]?.evidence?.id);

  const checked = await actOnPage(other, session, "/variants/main/check", { viewports: ["desktop"] });
  assert.equal(checked.status, 200, await checked.clone().text());
  assert.ok((await readRevision(owner, sessionId, 1)).check, "the report is stored");
  assert.equal(await turn.finish(), "1,half");
  const hosts = await owner.container.services.db.select().from(browserHosts);
  assert.equal(hosts.length, 1, "both processes use one host");
});

/** Checks that a process can read a picture of the page. */
async function checkPicture(service: HttpTestService, sessionId: string, id: string | undefined) {
  const answer = await service.call("GET", `/api/sessions/${sessionId}/artifacts/${id}`);
  const { width = 0 } = await sharp(Buffer.from(await answer.arrayBuffer())).metadata();
  assert.ok(width >= 600, `${answer.status}: ${width} pixels`);
}
