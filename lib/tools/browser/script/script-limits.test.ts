import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { startSite, startTestBrowser, type TestBrowser } from "../test-fixture.ts";
import { createScriptRunner, type ScriptRunner } from "./script-runner.ts";
import type { ScriptOptions } from "./script-types.ts";

/** An expression with which a script gets Node's `process`, and with it the pipes to the service. */
const NODE = "page.constructor.constructor('return process')()";
/** Lets a script write calls into its pipe itself, past the queue of its process. */
const ASK = `const P = ${NODE};
  const ask = (id, name) =>
    P.stdout.write(JSON.stringify({ type: "ask", id, name, args: ["a.bin", "b.bin"] }) + "\\n");`;
const MIB = 2 ** 20;
const FILE_BYTES = 19 * MIB;
/**
 * Bytes outside of the JavaScript heap that this process may hold while one script does its worst: the file that is
 * read, the parts that are sent, one message, and garbage that is not collected yet.
 */
const BUFFERS_MAX = 300 * MIB;

let browser: TestBrowser;
let site: Awaited<ReturnType<typeof startSite>>;
let runner: ScriptRunner;

before(async () => {
  site = await startSite({
    "/": "<title>Shop</title><h1>Shop</h1><input type=file id=file>",
  });
  [browser, runner] = await Promise.all([
    startTestBrowser(),
    createScriptRunner({ logger: { warn: () => {} } }),
  ]);
  await browser.live.page().goto(site.url);
});
after(async () => {
  await Promise.all([runner?.close(), browser?.close(), site?.close()]);
});

const run = (script: string, options: Partial<ScriptOptions> = {}) =>
  runner.run(browser.live, script, { timeoutMs: 60_000, signal: new AbortController().signal, ...options });
async function read(script: string, options: Partial<ScriptOptions> = {}): Promise<unknown> {
  const outcome = await run(script, options);
  assert.ok(outcome.ok, JSON.stringify(outcome).slice(0, 500));
  return outcome.value;
}
/** Notes the most that buffers of this process held, until the returned function is called. */
function watchBuffers(): () => number {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers);
  }, 10).unref();
  return () => {
    clearInterval(timer);
    return most;
  };
}
/** Files that count how often, and how often at once, they are read. */
function createFiles(bytes: Uint8Array) {
  const counts = { reads: 0, atOnce: 0, atOnceMax: 0, limits: new Set<number>() };
  const work = async <Result>(result: () => Result): Promise<Result> => {
    counts.reads += 1;
    counts.atOnce += 1;
    counts.atOnceMax = Math.max(counts.atOnceMax, counts.atOnce);
    await new Promise((resolve) => setImmediate(resolve));
    counts.atOnce -= 1;
    return result();
  };
  const files = {
    read: (_path: string, bytesMax: number) => {
      counts.limits.add(bytesMax);
      return work(() => bytes.slice());
    },
    write: () => work(() => undefined),
  };
  return { counts, files };
}

describe("calls of a script", () => {
  test("thousands at once are worked on two at a time, and each gets its own answer", async () => {
    let atOnce = 0;
    let atOnceMax = 0;
    const helpers = {
      async double(value: unknown) {
        atOnceMax = Math.max(atOnceMax, ++atOnce);
        await new Promise((resolve) => setImmediate(resolve));
        atOnce -= 1;
        return Number(value) * 2;
      },
    };
    const script = "return Promise.all(Array.from({ length: 3000 }, (_, n) => page.double(n)))";
    assert.deepEqual(
      await read(script, { helpers }),
      Array.from({ length: 3_000 }, (_, n) => 2 * n),
    );
    assert.equal(atOnceMax, 2);
  });

  test("thousands of reads of a large file end at the script's budget, one file at a time", async () => {
    const { files, counts } = createFiles(Buffer.alloc(FILE_BYTES, 7));
    const buffers = watchBuffers();
    const error = await read(
      `${ASK}
       for (let n = 1; n <= 2000; n++) ask(-n, "readFile");
       return page.after().then(() => "answered", (error) => error.message)`,
      { files, helpers: { after: async () => 1 } },
    );
    assert.match(String(error), /^The calls of this script have returned 256 MiB, which is the most/);
    assert.deepEqual(counts, { reads: 14, atOnce: 0, atOnceMax: 1, limits: new Set([20 * MIB]) });
    assert.ok(buffers() < BUFFERS_MAX, `${buffers()}`);
  });

  test("calls that a script writes into its pipe itself wait too, and other scripts run meanwhile", async () => {
    const { files, counts } = createFiles(Buffer.alloc(FILE_BYTES, 7));
    const stop = new AbortController();
    const full = Promise.withResolvers<void>();
    const free = Promise.withResolvers<void>();
    let atOnce = 0;
    let atOnceMax = 0;
    const helpers = {
      async wait() {
        atOnceMax = Math.max(atOnceMax, ++atOnce);
        if (atOnce === 2) full.resolve();
        await free.promise;
        atOnce -= 1;
        return null;
      },
    };
    const buffers = watchBuffers();
    const flooding = run(
      `${ASK}
       for (let n = 1; n <= 20000; n++) ask(-n, n < 3 ? "wait" : ["readFile", "copyFile", "none"][n % 3]);
       P.stdin.pause();
       await new Promise(() => {});`,
      { files, helpers, signal: stop.signal },
    );
    await Promise.race([full.promise, flooding]);
    assert.equal(await read("return page.title()"), "Shop");
    assert.equal(counts.reads, 0);
    free.resolve();
    // The script does not read, so the parts of its file wait for it, and with them its other calls.
    assert.equal(await read("return page.title()"), "Shop");
    stop.abort();
    const outcome = await flooding;
    assert.equal(outcome.ok ? "" : outcome.error, "The script was stopped.");
    assert.equal(atOnceMax, 2);
    assert.ok(counts.atOnceMax <= 1);
    assert.ok(counts.reads < 14, `${counts.reads}`);
    assert.ok(buffers() < BUFFERS_MAX, `${buffers()}`);
  });

  test("an error of a helper shows no path of the machine", async () => {
    const missing = join(tmpdir(), "service-data", "workspaces", "file.txt");
    const message = await read("return page.fails().catch((error) => error.message)", {
      helpers: { fails: () => readFile(missing) },
    });
    assert.match(String(message), /no such file or directory \(ENOENT\)/);
    assert.ok(!String(message).includes(tmpdir()), String(message));
  });

  test("large answers of helpers count too, and so do copies", async () => {
    const { files } = createFiles(Buffer.alloc(50 * MIB));
    const large = "x".repeat(8 * MIB);
    const count = `const ok = (call) => call.then(() => 1, () => 0);
      const add = async (calls) => (await Promise.all(calls)).reduce((sum, each) => sum + each, 0);`;
    assert.equal(
      await read(`${count} return add(Array.from({ length: 40 }, () => ok(page.large())))`, {
        helpers: { large: async () => large },
      }),
      31,
    );
    const copy = `${ASK}
      for (let n = 1; n <= 10; n++) ask(-n, "copyFile");
      return page.after().then(() => "answered", (error) => error.message)`;
    assert.match(String(await read(copy, { files, helpers: { after: async () => 1 } })), /256 MiB/);
  });

  test("the deadline holds while calls are open and the script ignores signals", async () => {
    const outcome = await run(
      `const P = ${NODE};
       for (const name of ["SIGTERM", "SIGINT", "SIGHUP"]) P.on(name, () => {});
       for (let n = 0; n < 1000; n++) page.never();
       for (;;) await page.title();`,
      { timeoutMs: 3_000, helpers: { never: () => new Promise(() => {}) } },
    );
    assert.deepEqual([outcome.ok, !outcome.ok && outcome.timedOut], [false, true]);
    assert.equal(await read("return 1"), 1);
  });
});

describe("what a script writes", () => {
  const floods: [sentence: string, script: string][] = [
    ["log lines", `await flood(P.stdout, line({ type: "log", text: "x".repeat(10000) }))`],
    ["small messages", `await flood(P.stdout, line({ type: "called", id: 1, isDone: true }).repeat(1000))`],
    [
      "DevTools commands that are refused",
      `P.stdin.pause();
       await flood(P.stdout, line({ type: "devtools", message: { id: 1, method: "Browser.close" } }).repeat(1000))`,
    ],
    [
      "DevTools commands that the page never answers",
      `const { _sessionId: sessionId } = page._connection.toImpl(page).delegate._mainFrameSession._client;
       const params = { expression: "new Promise(() => {}) /*" + "x".repeat(50000) + "*/", awaitPromise: true };
       await flood(P.stdout, line({ type: "devtools", message: { id: 1e9, method: "Runtime.evaluate", params, sessionId } }))`,
    ],
    ["refs", `await flood(P.stdout, line({ type: "ref", ref: "e1" }).repeat(1000))`],
    [
      "errors",
      `P.stderr.on("error", () => {}); for (;;) await new Promise((r) => P.stderr.write("x".repeat(65536), r))`,
    ],
  ];
  for (const [sentence, script] of floods)
    test(`a flood of ${sentence} fills no buffer, and other scripts run meanwhile`, async () => {
      const stop = new AbortController();
      const begun = Promise.withResolvers<void>();
      const buffers = watchBuffers();
      const flooding = run(
        `const P = ${NODE};
         const line = (message) => JSON.stringify(message) + "\\n";
         const flood = async (stream, text) => { for (;;) await new Promise((r) => stream.write(text, r)) };
         await page.begun();
         ${script}`,
        { signal: stop.signal, helpers: { begun: async () => begun.resolve() } },
      );
      await begun.promise;
      assert.equal(await read("return page.title()"), "Shop");
      stop.abort();
      const outcome = await flooding;
      assert.equal(outcome.ok ? "" : outcome.error, "The script was stopped.");
      assert.ok(outcome.logs.length < 50_000, `${outcome.logs.length}`);
      assert.ok(buffers() < BUFFERS_MAX, `${buffers()}`);
    });

  test("large results and errors are cut", async () => {
    const done = (message: object) =>
      run(`${NODE}.stdout.write(${JSON.stringify(JSON.stringify({ type: "done", ...message }))} + "\\n");
        await new Promise(() => {})`);
    const failed = await done({ ok: false, error: "x".repeat(90_000), line: 1, column: 1 });
    assert.ok(!failed.ok && failed.error.length < 5_000);
    const nested = `${"[".repeat(5_000)}1${"]".repeat(5_000)}`;
    const deep = await done({ ok: true, json: nested, cutFrom: null });
    assert.equal(deep.ok && deep.value, nested);
    assert.equal(String(await read("return 'x'.repeat(5e7)")).length < 210_000, true);
    const thrown = await run("throw new Error('x'.repeat(1e7))");
    assert.ok(!thrown.ok && thrown.error.length < 5_000);
  });
});

describe("large messages of normal use", () => {
  test("an upload of 20 MiB from the workspace arrives in the page", async () => {
    const bytes = Buffer.alloc(20 * MIB, 1);
    bytes.write("begin", 0);
    bytes.write("end", bytes.byteLength - 3);
    const { files } = createFiles(bytes);
    const value = await read(
      `await page.setInputFiles("#file", "data/big.bin", { timeout: 50_000 });
       return page.evaluate(async () => {
         const [file] = document.querySelector("#file").files;
         return [file.name, file.size, await file.slice(0, 5).text(), await file.slice(-3).text()];
       });`,
      { files },
    );
    assert.deepEqual(value, ["big.bin", 20 * MIB, "begin", "end"]);
  });

  test("a large text goes into the page and back, and a large answer can be fulfilled", async () => {
    const value = await read(`
      const text = "é".repeat(1e6);
      const back = await page.evaluate((each) => each, text);
      await page.route("**/large", (route) => route.fulfill({ body: "y".repeat(6e6) }));
      const size = await page.evaluate(async () => (await (await fetch("/large")).text()).length);
      await page.unroute("**/large");
      return [back === text, size];
    `);
    assert.deepEqual(value, [true, 6e6]);
  });
});

test("of a script's calls in progress, 50 are reported, with 100 characters of their names", async () => {
  const outcome = await run(`const P = ${NODE};
    for (let id = 1_000; id < 1_200; id += 1)
      P.stdout.write(JSON.stringify({ type: "call", id, name: "n".repeat(10_000), line: 1, column: 1 }) + "\\n");
    return "done";`);
  assert.ok(outcome.ok);
  assert.equal(outcome.openCalls.length, 50);
  assert.equal(Math.max(...outcome.openCalls.map(({ name }) => name.length)), 100);
});
