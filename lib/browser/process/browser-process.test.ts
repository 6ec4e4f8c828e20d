import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chmod, readdir, readFile, stat } from "node:fs/promises";
import { getPriority, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { browsers } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { closeInheritedDescriptors } from "#lib/isolation/inherited-descriptors.ts";
import { BROWSER_PRIORITY, LOW_PRIORITY } from "#lib/isolation/low-priority.ts";
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

// Needs a process of its own: it reads the descriptors that its process passes on.

let site: Awaited<ReturnType<typeof startTestSite>>;
let database: Awaited<ReturnType<typeof openTestDatabase>>;
let harnesses: TestBrowsers[] = [];

before(async () => {
  database = await openTestDatabase();
  site = await startTestSite((request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(`<title>${request.url}</title>`);
  });
});
afterEach(async () => {
  // Close in reverse order, because a later service may use the browser of an earlier one.
  for (const harness of harnesses.reverse()) await harness.close();
  harnesses = [];
});
after(async () => {
  await site.close();
  await database.close();
});

async function openHarness(over: Parameters<typeof openTestBrowsers>[1] = {}): Promise<TestBrowsers> {
  const harness = await openTestBrowsers([`127.0.0.1:${site.port}`], over, database.db);
  harnesses.push(harness);
  return harness;
}

/** Lists running processes whose command lines contain one of the profile folders. */
async function findProcesses(profileDirs: string[]): Promise<string[]> {
  return execFileSync("ps", ["-eo", "pid=,stat=,args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => profileDirs.some((dir) => line.includes(dir)) && !/^\s*\d+\s+Z/.test(line));
}

/** Reads the records of a service's running browsers. */
async function readRecords(harness: TestBrowsers): Promise<{ pid: number; profileDir: string }[]> {
  const folder = join(harness.dataDir, "browsers");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json"));
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, name), "utf8"))));
}

const statusIs = (harness: TestBrowsers, sessionId: string, status: string) =>
  waitFor(async () => {
    const record = await harness.browsers.readStatus(sessionId);
    return record.status === status && record;
  }, `status ${status}`);

test("a browser whose process is killed expires, and the next use starts one on its last page", async () => {
  const harness = await openHarness();
  const sessionId = await insertTestSession(harness.db);
  await harness.browsers.retarget(sessionId, `${site.origin}/selected`);
  await harness.browsers.navigate(sessionId, `${site.origin}/elsewhere`);
  const [record] = await readRecords(harness);
  process.kill(record?.pid ?? 0, "SIGKILL");
  const gone = await statusIs(harness, sessionId, "expired");
  assert.equal(gone.liveViewUrl, null);
  assert.equal(gone.currentUrl, null);
  assert.equal(gone.desiredUrl, `${site.origin}/selected`);

  const live = await harness.browsers.ensure(sessionId);
  assert.equal(live.page().url(), `${site.origin}/elsewhere`);
  const back = await harness.browsers.readStatus(sessionId);
  assert.equal(back.lastNavigatedUrl, `${site.origin}/elsewhere`);
  assert.equal(back.desiredUrl, `${site.origin}/selected`);
});

test("a retarget succeeds even if the browser dies before the page is reached", async () => {
  const harness = await openHarness();
  const sessionId = await insertTestSession(harness.db);
  await harness.browsers.navigate(sessionId, `${site.origin}/page`);
  const [record] = await readRecords(harness);
  process.kill(record?.pid ?? 0, "SIGKILL");
  // The service has not noticed yet that the browser ended.
  await harness.browsers.retarget(sessionId, `${site.origin}/asked`);
  await waitFor(async () => {
    const { status, lastNavigatedUrl } = await harness.browsers.readStatus(sessionId);
    return status === "ready" && lastNavigatedUrl === `${site.origin}/asked`;
  }, "the requested page");
});

test("a renderer crash is an error with its reason, and the next use starts a new browser", async () => {
  const harness = await openHarness();
  const sessionId = await insertTestSession(harness.db);
  await harness.browsers.navigate(sessionId, `${site.origin}/page`);
  const live = await harness.browsers.ensure(sessionId);
  void live
    .cdp()
    .then((cdp) => cdp.send("Page.crash"))
    .catch(() => {});
  assert.match((await statusIs(harness, sessionId, "error")).lastError ?? "", /page crashed/);
  await harness.browsers.ensure(sessionId);
  assert.equal((await harness.browsers.readStatus(sessionId)).lastError, null);
});

test("concurrent uses start one browser", async () => {
  const harness = await openHarness();
  const sessionId = await insertTestSession(harness.db);
  const all = await Promise.all(Array.from({ length: 5 }, () => harness.browsers.ensure(sessionId)));
  assert.equal(new Set(all.map((live) => live.browser)).size, 1);
  assert.equal(harness.browsers.describe().live, 1);
});

test("an idle browser is reaped; a used or watched one is not", async () => {
  let now = Date.parse("2026-01-01T00:00:00Z");
  const harness = await openHarness({ idleMs: 60_000, clockMs: () => now });
  const [left, used, watched] = await Promise.all([0, 1, 2].map(() => insertTestSession(harness.db)));
  for (const id of [left, used, watched]) await harness.browsers.ensure(id ?? "");
  const stop = harness.browsers.watch(watched ?? "", { onFrame() {} });
  now = Date.parse("2026-01-01T00:00:59Z");
  assert.equal(await harness.browsers.reapIdle(), 0);
  harness.browsers.touch(used ?? "");
  now = Date.parse("2026-01-01T00:01:01Z");
  assert.equal(await harness.browsers.reapIdle(), 1);
  assert.equal((await harness.browsers.readStatus(left ?? "")).status, "expired");
  assert.equal((await harness.browsers.readStatus(used ?? "")).status, "ready");
  assert.equal((await harness.browsers.readStatus(watched ?? "")).status, "ready");
  stop();
});

test("a row that claims a browser that does not exist does not prevent a start", async () => {
  const harness = await openHarness();
  const sessionId = await insertTestSession(harness.db);
  await harness.db.insert(browsers).values({ sessionId, status: "ready" });
  await harness.browsers.ensure(sessionId);
  assert.equal((await harness.browsers.readStatus(sessionId)).status, "ready");
});

test("closing leaves no process and no profile behind", async () => {
  const harness = await openHarness({ keepSpare: true });
  const sessionId = await insertTestSession(harness.db);
  await harness.browsers.navigate(sessionId, `${site.origin}/page`);
  const records = await readRecords(harness);
  const dirs = records.map(({ profileDir }) => profileDir);
  assert.ok((await findProcesses(dirs)).length > 0);
  await harness.browsers.close();
  await waitFor(async () => (await findProcesses(dirs)).length === 0, "the processes to end");
  assert.deepEqual(await readdir(join(harness.dataDir, "browsers")), []);
  assert.equal((await harness.browsers.readStatus(sessionId)).status, "expired");
});

test("rows that claim a browser after a restart become expired, and orphans are ended", async () => {
  const harness = await openHarness();
  const sessionId = await insertTestSession(harness.db);
  await harness.browsers.ensure(sessionId);
  const [record] = await readRecords(harness);
  // A second service on the same data folder behaves like a service that is restarted after a crash.
  const again = await harness.restart();
  assert.equal((await again.readStatus(sessionId)).status, "expired");
  await waitFor(
    async () => (await findProcesses([record?.profileDir ?? "-"])).length === 0,
    "the orphan to end",
  );
});

test("the next start removes the profile of a service that was killed before its browser ran", async () => {
  const harness = await openHarness();
  const folder = join(harness.dataDir, "browsers");
  // Closes the service's folder to other users. The profile folder is therefore created in the system's temporary
  // folder.
  await chmod(harness.dataDir, 0o700);
  const account = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const { path } = await makeProfileFolder(folder, account);
  assert.equal(dirname(path), tmpdir());
  await harness.restart();
  await assert.rejects(stat(path), { code: "ENOENT" });
  assert.deepEqual(await readdir(folder), []);
});

test("when the service is killed, its browsers end, and their files are removed", async () => {
  const { executablePath } = findTestChromium();
  const script = `
    import { startChromium } from ${JSON.stringify(join(import.meta.dirname, "start-chromium.ts"))};
    const account = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;
    const options = { args: [], env: {}, folder: process.argv[1], proxyServer: "http://127.0.0.1:9", account, timeoutMs: 20000 };
    const started = await startChromium({ ...options, executablePath: process.argv[2], sandbox: false });
    console.log(started.pid);
    setInterval(() => {}, 1000);`;
  const harness = await openHarness();
  const folder = join(harness.dataDir, "browsers");
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
  const [record] = await readRecords(harness);
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

test("a Chromium that does not start is an error with its output", async () => {
  const harness = await openHarness({ launch: { executablePath: "/bin/false" } });
  const sessionId = await insertTestSession(harness.db);
  await assert.rejects(harness.browsers.ensure(sessionId), /the browser ended at its start/);
  const record = await harness.browsers.readStatus(sessionId);
  assert.equal(record.status, "error");
  assert.match(record.lastError ?? "", /the browser ended at its start/);
});

test("without any Chromium the service starts and reports what is missing", async () => {
  const harness = await openHarness({ launch: {} });
  assert.deepEqual(harness.browsers.describe(), {
    available: false,
    live: 0,
    detail: "no Chromium was found: set BROWSER_EXECUTABLE_PATH or BROWSER_CDP_URL",
  });
});

test("a browser's processes inherit no descriptor of the service", {
  skip: process.platform !== "linux",
}, async () => {
  // The service calls this function when it starts, too.
  closeInheritedDescriptors();
  const harness = await openHarness();
  await harness.browsers.ensure(await insertTestSession(harness.db));
  const own = new Set(
    readDescriptors("self").filter((each) => !/^(\/dev\/(null|urandom)|anon_inode:)/.test(each)),
  );
  assert.ok([...own].some((each) => each.startsWith("socket:")));
  const pids = await findBrowserProcesses(harness.dataDir);
  assert.ok(pids.length > 2, String(pids));
  for (const pid of pids)
    assert.deepEqual(
      readDescriptors(pid).filter((each) => own.has(each)),
      [],
    );
});

test("a browser has a lower priority than scripts", { skip: process.platform === "win32" }, async () => {
  const harness = await openHarness();
  await harness.browsers.ensure(await insertTestSession(harness.db));
  const [record] = await readRecords(harness);
  const pid = record?.pid ?? 0;
  assert.equal(getPriority(pid), getPriority() + BROWSER_PRIORITY);
  assert.ok(BROWSER_PRIORITY > LOW_PRIORITY);
  const autogroup = await readFile(`/proc/${pid}/autogroup`, "utf8").catch(() => `nice ${BROWSER_PRIORITY}`);
  assert.match(autogroup, new RegExp(`nice ${BROWSER_PRIORITY}\\s*$`));
});

test("each browser runs as a separate user, which is not an account's", {
  skip: process.getuid?.() !== 0,
}, async () => {
  const harness = await openHarness();
  const [one, other] = [await insertTestSession(harness.db), await insertTestSession(harness.db)];
  const userOf = async () => {
    const pids = await findBrowserProcesses(harness.dataDir);
    const users = await Promise.all(pids.map(async (pid) => (await stat(`/proc/${pid}`)).uid));
    return new Set(users);
  };
  await harness.browsers.ensure(one);
  const first = await userOf();
  assert.equal(first.size, 1);
  await harness.browsers.ensure(other);
  assert.equal((await userOf()).size, 2);
  const accounts = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":")[2]);
  for (const user of await userOf()) assert.ok(user !== 0 && !accounts.includes(String(user)), String(user));
  const [record] = await readRecords(harness);
  assert.equal((await stat(record?.profileDir ?? "-")).mode & 0o077, 0);
});

test("a page's console message of more than 12 MiB is dropped, and the browser keeps working", async () => {
  const harness = await openHarness();
  const live = await harness.browsers.ensure(await insertTestSession(harness.db));
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

test("browsers of a DevTools URL work in the same way", async () => {
  // This browser also listens on a port. It writes the number of the port to a file in its profile.
  const host = await openHarness({
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
  // Use a separate database, because a service that starts treats all rows as rows of an earlier process.
  const harness = await openTestBrowsers([`127.0.0.1:${site.port}`], { launch: { cdpUrl: devtoolsUrl } });
  harnesses.push(harness);
  const sessionId = await insertTestSession(harness.db);
  const outcome = await harness.browsers.navigate(sessionId, `${site.origin}/remote`);
  assert.deepEqual(outcome, { landed: true, url: `${site.origin}/remote` });
  const refused = await harness.browsers.navigate(sessionId, "http://10.1.2.3/");
  assert.equal(refused.landed, false);
  await harness.browsers.closeSession(sessionId);
  assert.equal((await harness.browsers.readStatus(sessionId)).status, "expired");
  assert.equal((await host.browsers.readStatus(hostSession)).status, "ready");
});
