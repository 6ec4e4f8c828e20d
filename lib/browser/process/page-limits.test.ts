import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
  waitFor,
} from "../testing.ts";
import { type CpuWindows, findExcess, type PageLimits } from "./page-limits.ts";

const MIB = 2 ** 20;
const LIMITS: PageLimits = { memoryBytes: 300 * MIB, processors: 2, cpuWindowMs: 1_000, everyMs: 100 };

describe("the limits of a renderer process", () => {
  const renderer = (cpuMs: number, memoryBytes = MIB) => ({ pid: 7, memoryBytes, cpuMs });
  const shared = (ms: number) => ({ ms, isShared: true });
  /** Measures a process at times, in a Chromium that sessions share. @returns at which times it exceeds a limit. */
  function findTimes(cpu: [ms: number, cpuMs: number, isShared?: boolean][]): number[] {
    let windows: CpuWindows = new Map();
    return cpu.flatMap(([ms, cpuMs, isShared = true]) => {
      const found = findExcess(LIMITS, windows, [renderer(cpuMs)], { ms, isShared });
      windows = found.windows;
      return found.excess.length > 0 ? [ms] : [];
    });
  }

  test("memory counts at once, and a limit of 0 is none", () => {
    const large = [renderer(0, 301 * MIB)];
    const { excess } = findExcess(LIMITS, new Map(), large, { ms: 0, isShared: false });
    assert.deepEqual(excess, [
      {
        pid: 7,
        reason: "the page used more than 300 MiB of memory (BROWSER_PAGE_MEMORY_MB) and was ended",
      },
    ]);
    assert.deepEqual(findExcess(LIMITS, new Map(), [renderer(0, 300 * MIB)], shared(0)).excess, []);
    const unlimited = { ...LIMITS, memoryBytes: 0 };
    assert.deepEqual(findExcess(unlimited, new Map(), large, shared(0)).excess, []);
  });

  test("processors count on average over a whole window, however long ago the process started", () => {
    assert.deepEqual(
      findTimes([
        [0, 50_000],
        [500, 51_500],
        [1_000, 52_001],
      ]),
      [1_000],
    );
    assert.deepEqual(
      findTimes([
        [0, 0],
        [500, 1_900],
        [1_000, 2_000],
        [1_500, 3_900],
        [2_000, 4_000],
      ]),
      [],
    );
  });

  test("processors do not count while a session has the Chromium for itself", () => {
    assert.deepEqual(
      findTimes([
        [0, 0],
        [900, 3_000, false],
        [1_000, 3_500],
        [1_900, 5_000],
        [2_000, 5_501],
      ]),
      [2_000],
    );
  });

  test("windows of ended processes are forgotten", () => {
    const { windows } = findExcess(
      LIMITS,
      new Map([[1, { sinceMs: 0, cpuMs: 0 }]]),
      [renderer(0)],
      shared(5),
    );
    assert.deepEqual([...windows.keys()], [7]);
  });
});

describe("a page that takes too much", () => {
  let site: Awaited<ReturnType<typeof startTestSite>>;
  let harness: TestBrowsers;

  before(async () => {
    site = await startTestSite((request, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end(`<title>${request.url}</title>`);
    });
    harness = await openTestBrowsers([`127.0.0.1:${site.port}`, `localhost:${site.port}`], {
      contextsPerProcess: 2,
      pageLimits: { memoryBytes: 300 * MIB, everyMs: 100 },
    });
  });
  after(async () => {
    await harness?.close();
    await site?.close();
  });

  async function open(path: string, { browsers } = harness) {
    const id = await insertTestSession(harness.db);
    await browsers.navigate(id, `${site.origin}${path}`);
    const live = await browsers.ensure(id);
    return { id, live, page: live.page() };
  }
  const untilError = (id: string) =>
    waitFor(async () => {
      const record = await harness.browsers.readStatus(id);
      return record.status === "error" && record.lastError;
    }, "the end of the page");
  const isReady = async (id: string) => (await harness.browsers.readStatus(id)).status === "ready";

  test("of memory is ended with a reason that people and the agent read, and its neighbor stays", async () => {
    const [hungry, neighbor] = await Promise.all([open("/hungry"), open("/neighbor")]);
    assert.equal(hungry.live.browser, neighbor.live.browser);
    await hungry.page.evaluate((bytes) => {
      setTimeout(() => {
        Object.assign(window, { kept: new Uint8Array(bytes).fill(1) });
      });
    }, 400 * MIB);
    const reason = "the page used more than 300 MiB of memory (BROWSER_PAGE_MEMORY_MB) and was ended";
    assert.equal(await untilError(hungry.id), reason);
    assert.equal(await neighbor.page.title(), "/neighbor");
    assert.ok(await isReady(neighbor.id));

    await harness.browsers.ensure(hungry.id);
    const because = ` The restart was needed because ${reason}.`;
    assert.ok(harness.browsers.takeRestartNote(hungry.id)?.endsWith(because));
    assert.ok((await harness.browsers.readStatus(hungry.id)).restartNotice?.endsWith(because));
    await Promise.all([hungry, neighbor].map(({ id }) => harness.browsers.closeSession(id)));
  });

  test("of the processors is ended while another session shares its Chromium", async (t) => {
    // The limit is so low because the machine may give a busy page hardly more.
    const limited = await openTestBrowsers(
      [`127.0.0.1:${site.port}`],
      { contextsPerProcess: 2, pageLimits: { processors: 0.02, cpuWindowMs: 3_000, everyMs: 100 } },
      harness.db,
    );
    t.after(() => limited.close());
    // The neighbor has loaded its page before the Chromium is shared, so it is idle while the processes are measured.
    const neighbor = await open("/neighbor", limited);
    const busy = await open("/busy", limited);
    assert.equal(busy.live.browser, neighbor.live.browser);
    await busy.page.evaluate(() => {
      const source = URL.createObjectURL(new Blob(["for (;;);"]));
      setTimeout(() => {
        for (let count = 0; count < 4; count += 1) new Worker(source);
      });
    });
    assert.equal(
      await untilError(busy.id),
      "the page used more than 0.02 processors for 3 s and was ended, because other sessions share its Chromium",
    );
    assert.equal(await neighbor.page.title(), "/neighbor");
    assert.ok(await isReady(neighbor.id));
  });

  test("in a tab that is not selected is closed, and the session keeps its browser", async () => {
    const session = await open("/selected");
    // A page of another site has a process of its own.
    const tab = await session.live.context.newPage();
    await tab.goto(`http://localhost:${site.port}/tab`);
    await waitFor(() => session.live.page() === tab, "the new tab");
    session.live.select(await readTargetId(session));
    assert.equal(session.live.page(), session.page);
    const position = session.live.activity.position();
    await tab.evaluate((bytes) => {
      setTimeout(() => {
        Object.assign(window, { kept: new Uint8Array(bytes).fill(1) });
      });
    }, 400 * MIB);
    await waitFor(() => tab.isClosed(), "the end of the tab");
    const lost = session.live.activity
      .since(position)
      .flatMap((entry) => (entry.kind === "page-lost" ? [entry] : []));
    assert.match(lost[0]?.reason ?? "", /more than 300 MiB/);
    assert.match(
      await waitFor(
        async () => (await harness.browsers.readStatus(session.id)).lastError ?? false,
        "the reason",
      ),
      /^a page in the background was closed: the page used more than 300 MiB/,
    );
    assert.equal(await session.page.title(), "/selected");
    await harness.browsers.closeSession(session.id);
  });

  async function readTargetId({ live, page }: Awaited<ReturnType<typeof open>>): Promise<string> {
    const session = await live.context.newCDPSession(page);
    const { targetInfo } = await session.send("Target.getTargetInfo");
    await session.detach();
    return targetInfo.targetId;
  }
});
