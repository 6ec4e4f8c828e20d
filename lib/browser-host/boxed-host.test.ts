import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eq } from "drizzle-orm";
import { browserHosts, browsers, sessions } from "#db/schema/index.ts";
import {
  type StandInWithSnapshot,
  startWithSnapshot,
} from "#e2e/fixtures/vercel-sandbox/start-with-snapshot.ts";
import { insertTestSession, startTestSite } from "#lib/browser/testing.ts";
import { PROTOCOL_VERSION } from "#lib/host-link/link-message.ts";
import { createVercelBoxes } from "#lib/sandbox/vercel/create-vercel-boxes.ts";
import type { VercelBoxes } from "#lib/sandbox/vercel/vercel-box.ts";
import { placeHostToken } from "#lib/session/secrets/secret-names.ts";
import { openTestHosts, type TestHosts, type TestProcess } from "./testing.ts";

let loads = 0;
let site: Awaited<ReturnType<typeof startTestSite>>;
let standIn: StandInWithSnapshot;
let hosts: TestHosts;
let boxes: VercelBoxes;
let first: TestProcess;
let second: TestProcess;

before(async () => {
  site = await startTestSite((request, response) => {
    if (request.url === "/form") loads += 1;
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<title>Form</title><h1>Form</h1><input id=name aria-label=Name>`);
  });
  standIn = await startWithSnapshot();
  hosts = await openTestHosts([`127.0.0.1:${site.port}`]);
  const { connection, snapshotId } = standIn;
  boxes = createVercelBoxes({ connection, source: { snapshotId }, network: "public" });
  [first, second] = await Promise.all([hosts.openBoxed(boxes), hosts.openBoxed(boxes)]);
});
after(async () => {
  await hosts?.close();
  await standIn?.close();
  await site?.close();
});

const nameOf = (sessionId: string) => `agent-${sessionId.replaceAll("_", "-")}`;
const listHosts = (sessionId: string) =>
  hosts.db.select().from(browserHosts).where(eq(browserHosts.sessionId, sessionId));
const readValue = (from: TestProcess, sessionId: string) =>
  from.use(sessionId, "browser_execute", { script: "return page.inputValue('#name')" });

test("two functions that start at once use one host in the session's box, with its tools, scripts and pictures", async () => {
  const sessionId = await insertTestSession(hosts.db);
  loads = 0;
  const url = `${site.origin}/form`;
  const [landed] = await Promise.all([
    first.service.navigate(sessionId, url),
    second.service.open(sessionId),
  ]);
  assert.equal(landed.landed, true);
  const script = "await page.fill('#name', 'Ada'); return page.greet('Ada');";
  assert.match(await first.use(sessionId, "browser_execute", { script }), /hello Ada/);
  assert.match(await readValue(second, sessionId), /Ada/);
  assert.match(await second.use(sessionId, "screenshot", {}), /Evidence [\s\S]*\[image\]/);
  const seen = Promise.withResolvers<void>();
  const stop = second.service.watch(sessionId, { onFrame: () => seen.resolve() });
  await seen.promise;
  stop();
  const [host, ...others] = await listHosts(sessionId);
  assert.deepEqual([host?.home, others, loads], ["sandbox", [], 1]);
  assert.match(first.service.describe().detail, /Chromium at .*; scripts: bubblewrap/);
  assert.equal(standIn.exitCodesOf(nameOf(sessionId)).filter((code) => code === null).length, 1);
});

test("a page stays while no function is connected", async () => {
  const sessionId = await insertTestSession(hosts.db);
  loads = 0;
  const third = await hosts.openBoxed(boxes);
  await third.service.navigate(sessionId, `${site.origin}/form`);
  await third.use(sessionId, "browser_execute", { script: "await page.fill('#name', 'half')" });
  await third.close(false);
  assert.match(await readValue(first, sessionId), /half/);
  assert.equal(loads, 1);
});

test("a box that was stopped resumes without its host: the browser is lost, and a new host is started", async () => {
  const sessionId = await insertTestSession(hosts.db);
  loads = 0;
  await first.service.navigate(sessionId, `${site.origin}/form`);
  const [host] = await listHosts(sessionId);
  const readRow = async () =>
    (await hosts.db.select().from(browsers).where(eq(browsers.sessionId, sessionId)))[0];
  const before = await readRow();
  await standIn.expire(nameOf(sessionId));
  // The lease is over 10 s after the last renewal. The test moves its end instead of waiting.
  await hosts.db
    .update(browserHosts)
    .set({ leaseUntil: new Date(Date.now() - 1_000) })
    .where(eq(browserHosts.sessionId, sessionId));
  assert.match(await second.use(sessionId, "dom_query", {}), /textbox "Name"/);
  const [next, ...others] = await listHosts(sessionId);
  assert.ok(next && next.id !== host?.id && others.length === 0);
  const after = await readRow();
  assert.ok((after?.starts ?? 0) > (before?.starts ?? 0), "the browser has a higher number");
  assert.equal(after?.hostId, next.id);
  assert.equal(loads, 2);
  assert.equal(standIn.readBox(nameOf(sessionId)).sessions, 2);
});

test("a host that was stored by a function which ended before it started the host is replaced", async () => {
  const sessionId = await insertTestSession(hosts.db);
  await boxes.open(sessionId);
  await hosts.db.insert(browserHosts).values({
    id: "bh_never",
    home: "sandbox",
    sessionId,
    url: "ws://127.0.0.1:1",
    sealedToken: hosts.sealer.seal(placeHostToken("bh_never"), "token"),
    protocol: PROTOCOL_VERSION,
    places: 1,
    leaseUntil: new Date(Date.now() - 1_000),
  });
  assert.equal((await first.service.navigate(sessionId, `${site.origin}/form`)).landed, true);
  assert.notEqual((await listHosts(sessionId))[0]?.id, "bh_never");
});

test("the deletion of a session ends the host and the box", async () => {
  const sessionId = await insertTestSession(hosts.db);
  await first.service.navigate(sessionId, `${site.origin}/form`);
  await hosts.db.delete(sessions).where(eq(sessions.id, sessionId));
  assert.deepEqual(await listHosts(sessionId), []);
  await boxes.remove(sessionId);
  assert.ok(!standIn.boxNames().includes(nameOf(sessionId)));
});
