import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chmod, readdir, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { browsers } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { closeInheritedDescriptors } from "#lib/isolation/inherited-descriptors.ts";
import {
  findBrowserProcesses,
  findTestChromium,
  insertTestSession,
  openTestBrowsers,
  readDescriptors,
  startTestSite,
  type TestBrowsers,
  waitFor,
} from "../testing.ts";
import { makeProfileFolder } from "./profile-folder.ts";

let site: Awaited<ReturnType<typeof startTestSite>>;
let database: Awaited<ReturnType<typeof openTestDatabase>>;
let houses: TestBrowsers[] = [];

before(async () => {
  database = await openTestDatabase();
  site = await startTestSite((request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(`<title>${request.url}</title>`);
  });
});
afterEach(async () => {
  // The guest before its host.
  for (const house of houses.reverse()) await house.close();
  houses = [];
});
after(async () => {
  await site.close();
  await database.close();
});

async function openHouse(over: Parameters<typeof openTestBrowsers>[1] = {}): Promise<TestBrowsers> {
  const house = await openTestBrowsers([`127.0.0.1:${site.port}`], over, database.db);
  houses.push(house);
  return house;
}

/** Processes that belong to browsers of this house: their command lines name its folder or a profile of the given id. */
async function findProcesses(profileDirs: string[]): Promise<string[]> {
  return execFileSync("ps", ["-eo", "pid=,stat=,args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => profileDirs.some((dir) => line.includes(dir)) && !/^\s*\d+\s+Z/.test(line));
}

/** The browser processes that a house has written down. */
async function readRecords(house: TestBrowsers): Promise<{ pid: number; profileDir: string }[]> {
  const folder = join(house.dataDir, "browsers");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json"));
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, name), "utf8"))));
}

const statusIs = (house: TestBrowsers, sessionId: string, status: string) =>
  waitFor(async () => {
    const record = await house.browsers.readStatus(sessionId);
    return record.status === status && record;
  }, `status ${status}`);

test("a browser whose process is killed expires, and comes back on its last page with the next need", async () => {
  const house = await openHouse();
  const sessionId = await insertTestSession(house.db);
  await house.browsers.retarget(sessionId, `${site.origin}/selected`);
  await house.browsers.navigate(sessionId, `${site.origin}/elsewhere`);
  const [record] = await readRecords(house);
  process.kill(record?.pid ?? 0, "SIGKILL");
  const gone = await statusIs(house, sessionId, "expired");
  assert.equal(gone.liveViewUrl, null);
  assert.equal(gone.currentUrl, null);
  assert.equal(gone.desiredUrl, `${site.origin}/selected`);

  const live = await house.browsers.ensure(sessionId);
  assert.equal(live.page().url(), `${site.origin}/elsewhere`);
  const back = await house.browsers.readStatus(sessionId);
  assert.equal(back.lastNavigatedUrl, `${site.origin}/elsewhere`);
  assert.equal(back.desiredUrl, `${site.origin}/selected`);
});

test("a retarget is carried out although the browser dies before the page is there", async () => {
  const house = await openHouse();
  const sessionId = await insertTestSession(house.db);
  await house.browsers.navigate(sessionId, `${site.origin}/page`);
  const [record] = await readRecords(house);
  process.kill(record?.pid ?? 0, "SIGKILL");
  // Nobody has noticed yet.
  await house.browsers.retarget(sessionId, `${site.origin}/asked`);
  await waitFor(async () => {
    const { status, lastNavigatedUrl } = await house.browsers.readStatus(sessionId);
    return status === "ready" && lastNavigatedUrl === `${site.origin}/asked`;
  }, "the page that was asked for");
});

test("a page whose renderer crashes is an error with its reason, and the next need starts anew", async () => {
  const house = await openHouse();
  const sessionId = await insertTestSession(house.db);
  await house.browsers.navigate(sessionId, `${site.origin}/page`);
  const live = await house.browsers.ensure(sessionId);
  void live
    .cdp()
    .then((cdp) => cdp.send("Page.crash"))
    .catch(() => {});
  assert.match((await statusIs(house, sessionId, "error")).lastError ?? "", /page crashed/);
  await house.browsers.ensure(sessionId);
  assert.equal((await house.browsers.readStatus(sessionId)).lastError, null);
});

test("many needs at once start one browser", async () => {
  const house = await openHouse();
  const sessionId = await insertTestSession(house.db);
  const all = await Promise.all(Array.from({ length: 5 }, () => house.browsers.ensure(sessionId)));
  assert.equal(new Set(all.map((live) => live.browser)).size, 1);
  assert.equal(house.browsers.describe().live, 1);
});

test("an idle browser is reaped; one that is used or watched is not", async () => {
  let now = new Date("2026-01-01T00:00:00Z");
  const house = await openHouse({ idleMs: 60_000, clock: () => now });
  const [left, used, watched] = await Promise.all([0, 1, 2].map(() => insertTestSession(house.db)));
  for (const id of [left, used, watched]) await house.browsers.ensure(id ?? "");
  const stop = house.browsers.watch(watched ?? "", { onFrame() {} });
  now = new Date("2026-01-01T00:00:59Z");
  assert.equal(await house.browsers.reapIdle(now), 0);
  house.browsers.touch(used ?? "");
  now = new Date("2026-01-01T00:01:01Z");
  assert.equal(await house.browsers.reapIdle(now), 1);
  assert.equal((await house.browsers.readStatus(left ?? "")).status, "expired");
  assert.equal((await house.browsers.readStatus(used ?? "")).status, "ready");
  assert.equal((await house.browsers.readStatus(watched ?? "")).status, "ready");
  stop();
});

test("a row that still claims a browser which is not there does not stand in the way", async () => {
  const house = await openHouse();
  const sessionId = await insertTestSession(house.db);
  await house.db.insert(browsers).values({ sessionId, status: "ready" });
  await house.browsers.ensure(sessionId);
  assert.equal((await house.browsers.readStatus(sessionId)).status, "ready");
});

test("closing leaves no process and no profile behind", async () => {
  const house = await openHouse({ keepSpare: true });
  const sessionId = await insertTestSession(house.db);
  await house.browsers.navigate(sessionId, `${site.origin}/page`);
  const records = await readRecords(house);
  const dirs = records.map(({ profileDir }) => profileDir);
  assert.ok((await findProcesses(dirs)).length > 0);
  await house.browsers.close();
  await waitFor(async () => (await findProcesses(dirs)).length === 0, "the processes to end");
  assert.deepEqual(await readdir(join(house.dataDir, "browsers")), []);
  assert.equal((await house.browsers.readStatus(sessionId)).status, "expired");
});

test("rows that claim a browser after a restart become expired, and orphans are ended", async () => {
  const house = await openHouse();
  const sessionId = await insertTestSession(house.db);
  await house.browsers.ensure(sessionId);
  const [record] = await readRecords(house);
  // A second service on the same folder does what a restarted one does after a crash of the first.
  const again = await house.restart();
  assert.equal((await again.readStatus(sessionId)).status, "expired");
  await waitFor(
    async () => (await findProcesses([record?.profileDir ?? "-"])).length === 0,
    "the orphan to end",
  );
});

test("a profile made by a service that was killed before its browser was up goes with the next start", async () => {
  const house = await openHouse();
  const folder = join(house.dataDir, "browsers");
  // As where the browser's user cannot go to the service's own folder.
  await chmod(house.dataDir, 0o700);
  const account = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const { path } = await makeProfileFolder(folder, account);
  assert.equal(dirname(path), tmpdir());
  await house.restart();
  await assert.rejects(stat(path), { code: "ENOENT" });
  assert.deepEqual(await readdir(folder), []);
});

test("when the service is killed, its browsers end with it, and what they wrote is removed", async () => {
  const { executablePath } = findTestChromium();
  const script = `
    import { startChromium } from ${JSON.stringify(join(import.meta.dirname, "start-chromium.ts"))};
    const account = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;
    const options = { args: [], env: {}, folder: process.argv[1], proxyServer: "http://127.0.0.1:9", account, timeoutMs: 20000 };
    const started = await startChromium({ ...options, executablePath: process.argv[2], sandbox: false });
    console.log(started.pid);
    setInterval(() => {}, 1000);`;
  const house = await openHouse();
  const folder = join(house.dataDir, "browsers");
  const service = spawn(
    process.execPath,
    ["--input-type=module-typescript", "-e", script, folder, executablePath],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const ended = new Promise((resolve) => service.once("exit", resolve));
  const pid = await new Promise<string>((resolve) =>
    service.stdout.once("data", (data) => resolve(String(data).trim())),
  );
  const [record] = await readRecords(house);
  assert.equal(String(record?.pid), pid);
  service.kill("SIGKILL");
  await ended;
  await waitFor(
    async () => (await findProcesses([record?.profileDir ?? "-"])).length === 0,
    "the browser to end",
  );
  const left = () => readdir(record?.profileDir ?? "-").catch(() => []);
  await waitFor(async () => (await left()).length === 0, "the profile to be emptied");
});

test("a Chromium that does not start is an error that says what it said", async () => {
  const house = await openHouse({ launch: { executablePath: "/bin/false" } });
  const sessionId = await insertTestSession(house.db);
  await assert.rejects(house.browsers.ensure(sessionId), /the browser ended at its start/);
  const record = await house.browsers.readStatus(sessionId);
  assert.equal(record.status, "error");
  assert.match(record.lastError ?? "", /the browser ended at its start/);
});

test("without any Chromium the service starts all the same and says what is missing", async () => {
  const house = await openHouse({ launch: {} });
  assert.deepEqual(house.browsers.describe(), {
    available: false,
    live: 0,
    detail: "no Chromium was found: set BROWSER_EXECUTABLE_PATH or BROWSER_CDP_URL",
  });
});

test("a browser's processes inherit no descriptor of the service", {
  skip: process.platform !== "linux",
}, async () => {
  // As at the start of the service.
  closeInheritedDescriptors();
  const house = await openHouse();
  await house.browsers.ensure(await insertTestSession(house.db));
  const own = new Set(
    readDescriptors("self").filter((each) => !/^(\/dev\/(null|urandom)|anon_inode:)/.test(each)),
  );
  assert.ok([...own].some((each) => each.startsWith("socket:")));
  const pids = await findBrowserProcesses(house.dataDir);
  assert.ok(pids.length > 2, String(pids));
  for (const pid of pids)
    assert.deepEqual(
      readDescriptors(pid).filter((each) => own.has(each)),
      [],
    );
});

test("each browser runs as a user of its own, which is not that of an account", {
  skip: process.getuid?.() !== 0,
}, async () => {
  const house = await openHouse();
  const [one, other] = [await insertTestSession(house.db), await insertTestSession(house.db)];
  const userOf = async () => {
    const pids = await findBrowserProcesses(house.dataDir);
    const users = await Promise.all(pids.map(async (pid) => (await stat(`/proc/${pid}`)).uid));
    return new Set(users);
  };
  await house.browsers.ensure(one);
  const first = await userOf();
  assert.equal(first.size, 1);
  await house.browsers.ensure(other);
  assert.equal((await userOf()).size, 2);
  const accounts = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":")[2]);
  for (const user of await userOf()) assert.ok(user !== 0 && !accounts.includes(String(user)), String(user));
  const [record] = await readRecords(house);
  assert.equal((await stat(record?.profileDir ?? "-")).mode & 0o077, 0);
});

test("what a page logs beyond 12 MiB is dropped, and the browser goes on", async () => {
  const house = await openHouse();
  const live = await house.browsers.ensure(await insertTestSession(house.db));
  const lengths: number[] = [];
  live.page().on("console", (message) => void lengths.push(message.text().length));
  await live.page().evaluate(() => {
    console.log("x".repeat(13 * 2 ** 20));
    console.log("short");
  });
  await waitFor(() => lengths.length > 0, "the short message");
  assert.deepEqual(lengths, [5]);
  assert.equal(await live.page().evaluate(() => 6 * 7), 42);
});

test("the same works over a DevTools URL", async () => {
  // A browser with a port beside its pipe, which it writes into its profile.
  const host = await openHouse({
    launch: {
      ...findTestChromium(),
      args: [...(findTestChromium().args ?? []), "--remote-debugging-port=0"],
    },
  });
  const hostSession = await insertTestSession(host.db);
  await host.browsers.ensure(hostSession);
  const [record] = await readRecords(host);
  const portFile = join(record?.profileDir ?? "-", "DevToolsActivePort");
  const [port, path] = (await readFile(portFile, "utf8")).split("\n");
  const devtoolsUrl = `ws://127.0.0.1:${port}${path}`;
  // A database of its own: a service that starts takes its rows for those of an earlier one.
  const house = await openTestBrowsers([`127.0.0.1:${site.port}`], { launch: { cdpUrl: devtoolsUrl } });
  houses.push(house);
  const sessionId = await insertTestSession(house.db);
  const outcome = await house.browsers.navigate(sessionId, `${site.origin}/remote`);
  assert.deepEqual(outcome, { landed: true, url: `${site.origin}/remote` });
  const refused = await house.browsers.navigate(sessionId, "http://10.1.2.3/");
  assert.equal(refused.landed, false);
  await house.browsers.closeSession(sessionId);
  assert.equal((await house.browsers.readStatus(sessionId)).status, "expired");
  assert.equal((await host.browsers.readStatus(hostSession)).status, "ready");
});
