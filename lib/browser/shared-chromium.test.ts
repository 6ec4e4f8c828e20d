import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import type { NetworkRefusal } from "#lib/security-log/security-events.ts";
import type { LiveBrowser, ScreencastFrame } from "./browser-service.ts";
import {
  findBrowserProcesses,
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
  waitFor,
} from "./testing.ts";

/** Sessions that share a Chromium: `BROWSER_CONTEXTS_PER_PROCESS` is 3. */
let site: Awaited<ReturnType<typeof startTestSite>>;
let harness: TestBrowsers;
const refusals: NetworkRefusal[] = [];
/** How often each page was loaded, by path. */
const loads = new Map<string, number>();
const open: string[] = [];

before(async () => {
  site = await startTestSite((request, response) => {
    const path = request.url ?? "/";
    loads.set(path, (loads.get(path) ?? 0) + 1);
    if (path === "/file")
      return void response
        .writeHead(200, { "content-type": "text/csv", "content-disposition": "attachment; filename=a.csv" })
        .end(request.headers.cookie ?? "no cookie");
    const [, color = "white"] = /^\/color-(\w+)/.exec(path) ?? [];
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(`<title>${path}</title><body style="background:${color}"><a href=/file>file</a>`);
  });
  harness = await openTestBrowsers([`127.0.0.1:${site.port}`], {
    contextsPerProcess: 3,
    onRequestRefused: (refusal) => refusals.push(refusal),
  });
});
afterEach(async () => {
  for (const id of open.splice(0)) await harness.browsers.closeSession(id);
  assert.deepEqual(await findBrowserProcesses(harness.dataDir), []);
});
after(async () => {
  await harness?.close();
  await site?.close();
});

type Opened = { id: string; live: LiveBrowser };

/** Opens a page in a new session. */
async function openSession(
  path: string,
  fields: Parameters<typeof insertTestSession>[1] = {},
): Promise<Opened> {
  const id = await insertTestSession(harness.db, fields);
  open.push(id);
  assert.deepEqual(await harness.browsers.navigate(id, `${site.origin}${path}`), {
    landed: true,
    url: `${site.origin}${path}`,
  });
  return { id, live: await harness.browsers.ensure(id) };
}

const isTogether = (one: Opened, other: Opened) => one.live.browser === other.live.browser;
const readStatus = ({ id }: Opened) => harness.browsers.readStatus(id);
const statusIs = (opened: Opened, status: string) =>
  waitFor(async () => {
    const record = await readStatus(opened);
    return record.status === status && record;
  }, `the status ${status}`);

describe("two sessions of one owner in one Chromium", () => {
  let one: Opened;
  let other: Opened;
  const openBoth = async () => {
    [one, other] = await Promise.all([openSession("/color-red"), openSession("/color-blue")]);
    assert.ok(isTogether(one, other));
  };

  test("have cookies, storage and databases of their own", async () => {
    await openBoth();
    await one.live.page().evaluate(async () => {
      // biome-ignore lint/suspicious/noDocumentCookie: the test is about this interface.
      document.cookie = "login=one";
      localStorage.setItem("login", "one");
      await (await caches.open("own")).put("/kept", new Response("one")).catch(() => {});
      await new Promise((resolve) => {
        indexedDB.open("own").onsuccess = resolve;
      });
    });
    const read = ({ live }: Opened) =>
      live
        .page()
        .evaluate(async () => [
          document.cookie,
          localStorage.getItem("login"),
          await caches.keys(),
          (await indexedDB.databases()).map(({ name }) => name),
        ]);
    assert.deepEqual(await read(one), ["login=one", "one", ["own"], ["own"]]);
    assert.deepEqual(await read(other), ["", null, [], []]);
  });

  test("get their own downloads and dialogs", async () => {
    await openBoth();
    const before = harness.downloads.length;
    await one.live.context.addCookies([{ name: "login", value: "one", url: site.origin }]);
    for (const { live } of [one, other]) {
      await live.page().evaluate(() => void setTimeout(() => alert(document.title)));
      await live.page().getByText("file").click();
    }
    const downloads = await waitFor(() => {
      const found = harness.downloads.slice(before);
      return found.length === 2 && found;
    }, "two downloads");
    assert.deepEqual(
      downloads.toSorted((a, b) => a.text.localeCompare(b.text)),
      [
        { sessionId: one.id, name: "a.csv", text: "login=one" },
        { sessionId: other.id, name: "a.csv", text: "no cookie" },
      ],
    );
    for (const [{ id }, message] of [
      [one, "/color-red"],
      [other, "/color-blue"],
    ] as const) {
      const messages = await waitFor(async () => {
        const events = await harness.log.read(id, { after: 0, limit: 1_000 });
        const found = events
          .filter(({ kind }) => kind === "browser.dialog")
          .map(({ body }) => (JSON.parse(body) as { message: string }).message);
        return found.length > 0 && found;
      }, "the dialog");
      assert.deepEqual(messages, [message]);
    }
  });

  test("have proxies of their own, which name their session in a refusal", async () => {
    await openBoth();
    refusals.length = 0;
    for (const [{ live }, port] of [
      [one, 18_001],
      [other, 18_002],
    ] as const)
      await live
        .page()
        .evaluate(
          (refused) => fetch(refused, { mode: "no-cors" }).catch(() => {}),
          `http://127.0.0.1:${port}/`,
        );
    const named = () => refusals.map(({ host, sessionId }) => [host, sessionId]);
    await waitFor(() => refusals.length >= 2, "the refusals");
    assert.deepEqual(named(), [
      ["127.0.0.1:18001", one.id],
      ["127.0.0.1:18002", other.id],
    ]);
  });

  test("show their own live pictures", async () => {
    await openBoth();
    const frames = new Map<string, ScreencastFrame>();
    const stops = [one, other].map(({ id }) =>
      harness.browsers.watch(id, { onFrame: (frame) => frames.set(id, frame) }),
    );
    await waitFor(() => frames.size === 2, "a picture of each");
    for (const stop of stops) stop();
    const colorOf = ({ id }: Opened) =>
      one.live.page().evaluate(
        async (url) => {
          const picture = new Image();
          picture.src = url;
          await picture.decode();
          const canvas = new OffscreenCanvas(1, 1).getContext("2d");
          canvas?.drawImage(picture, 600, 400, 1, 1, 0, 0, 1, 1);
          const [red = 0, , blue = 0] = canvas?.getImageData(0, 0, 1, 1).data ?? [];
          return red > blue ? "red" : "blue";
        },
        `data:image/jpeg;base64,${Buffer.from(frames.get(id)?.jpeg ?? []).toString("base64")}`,
      );
    assert.deepEqual([await colorOf(one), await colorOf(other)], ["red", "blue"]);
  });

  test("end separately: the other one keeps its page, and loses none of its connections", async () => {
    await openBoth();
    const connect = ({ live }: Opened) => live.openDevtools(5_000, { onEvent() {}, onClose() {} });
    const [ending, staying] = [await connect(one), await connect(other)];
    const contexts = other.live.browser.contexts().length;
    // The page works while the other session ends, and one that does not let itself be closed ends all the same.
    await one.live.page().evaluate(() => {
      addEventListener("beforeunload", (event) => event.preventDefault());
      setTimeout(() => {
        for (;;);
      });
    });
    const counted = other.live.page().evaluate(
      () =>
        new Promise<number>((resolve) => {
          let count = 0;
          const timer = setInterval(() => {
            count += 1;
            if (document.title === "end") resolve(count);
            if (document.title === "end") clearInterval(timer);
          });
        }),
    );
    await harness.browsers.closeSession(one.id);
    await ending.closed;
    assert.equal((await readStatus(one)).status, "expired");
    await other.live.page().evaluate(() => {
      document.title = "end";
    });
    assert.ok((await counted) > 0);
    assert.equal(staying.isOpen(), true);
    assert.equal(other.live.browser.contexts().length, contexts - 1);
    assert.equal((await readStatus(other)).status, "ready");
  });

  test("are told both when their Chromium crashes, and come back", async () => {
    await openBoth();
    const [pid = 0] = await findBrowserProcesses(harness.dataDir);
    process.kill(pid, "SIGKILL");
    await Promise.all([one, other].map((each) => statusIs(each, "expired")));
    const again = await Promise.all([one, other].map(({ id }) => harness.browsers.ensure(id)));
    assert.equal(again[0]?.browser, again[1]?.browser);
    for (const { id } of [one, other])
      assert.match(harness.browsers.takeRestartNote(id) ?? "", /^The browser was restarted and shows/);
  });

  test("do not lose a page when the renderer of the other one crashes", async () => {
    await openBoth();
    loads.clear();
    void one.live
      .cdp()
      .then((cdp) => cdp.send("Page.crash"))
      .catch(() => {});
    assert.equal((await statusIs(one, "error")).lastError, "the page crashed: its renderer ended");
    assert.equal(await other.live.page().title(), "/color-blue");
    assert.equal(loads.get("/color-blue"), undefined);
    // The next browser of the first session joins the Chromium again.
    assert.equal((await harness.browsers.ensure(one.id)).browser, other.live.browser);
    assert.match(
      harness.browsers.takeRestartNote(one.id) ?? "",
      / The restart was needed because the page crashed: its renderer ended\.$/,
    );
  });
});

test("sessions of two owners, or of two users of one owner, never share a Chromium", async () => {
  const sessions = await Promise.all([
    openSession("/a", { ownerId: "ada" }),
    openSession("/b", { ownerId: "bob" }),
    openSession("/c", { ownerId: "ada", userId: "ann" }),
    openSession("/d", { ownerId: "ada", userId: "ben" }),
    openSession("/e", { ownerId: "ada", userId: "ann" }),
  ]);
  const [, , ann, , annAgain] = sessions;
  assert.ok(ann && annAgain && isTogether(ann, annAgain));
  assert.equal(new Set(sessions.map(({ live }) => live.browser)).size, 4);
});

test("a full Chromium takes no more sessions, and takes one again when one has left", async () => {
  const full = await Promise.all(["/1", "/2", "/3"].map((path) => openSession(path)));
  assert.equal(new Set(full.map(({ live }) => live.browser)).size, 1);
  const fourth = await openSession("/4");
  assert.ok(full.every((each) => !isTogether(each, fourth)));
  await Promise.all([full[0], fourth].map((each) => harness.browsers.closeSession(each?.id ?? "")));
  const fifth = await openSession("/5");
  assert.ok(full[1] && isTogether(full[1], fifth));
});

test("a spare Chromium belongs to the owner whose session takes it", async () => {
  const warm = await openTestBrowsers([`127.0.0.1:${site.port}`], { contextsPerProcess: 2, keepSpare: true });
  try {
    warm.browsers.warmUp();
    const [ada, bob, adaAgain] = await Promise.all(
      ["ada", "bob", "ada"].map(async (ownerId) => {
        const id = await insertTestSession(warm.db, { ownerId });
        return (await warm.browsers.ensure(id)).browser;
      }),
    );
    assert.equal(ada, adaAgain);
    assert.notEqual(ada, bob);
  } finally {
    await warm.close();
  }
});

test("places count sessions: one that could share a Chromium waits for a place, too", async () => {
  const few = await openTestBrowsers([], { contextsPerProcess: 4, maxLive: 1 }, harness.db);
  try {
    const [one = "", other = ""] = await Promise.all([0, 1].map(() => insertTestSession(harness.db)));
    const release = await few.browsers.hold(one);
    assert.deepEqual(await few.browsers.open(other), { state: "waiting" });
    release();
    assert.equal((await few.browsers.ensure(other)).browser.isConnected(), true);
  } finally {
    await few.close();
  }
});

test("by default, each session has a Chromium of its own", async () => {
  const separate = await openTestBrowsers([`127.0.0.1:${site.port}`]);
  try {
    const ids = await Promise.all([0, 1].map(() => insertTestSession(separate.db)));
    const [one, other] = await Promise.all(ids.map((id) => separate.browsers.ensure(id)));
    assert.notEqual(one?.browser, other?.browser);
    await separate.browsers.closeSession(ids[0] ?? "");
    assert.equal(one?.browser.isConnected(), false);
    assert.equal(other?.browser.isConnected(), true);
  } finally {
    await separate.close();
  }
});
