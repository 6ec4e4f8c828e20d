import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { readDescriptors, waitFor } from "#lib/browser/testing.ts";
import { closeInheritedDescriptors } from "#lib/isolation/inherited-descriptors.ts";
import { startSite, startTestBrowser, type TestBrowser } from "../test-fixture.ts";
import { createScriptRunner, type ScriptRunner } from "./script-runner.ts";

// Needs a process of its own: it lists the children of its process.

const logger = { warn: () => {} };
const never = new AbortController().signal;
/** An expression with which a script gets Node's `process`, although that name is undefined in scripts. */
const NODE = "page.constructor.constructor('return process')()";

let browser: TestBrowser;
let site: Awaited<ReturnType<typeof startSite>>;
let runner: ScriptRunner;

before(async () => {
  site = await startSite({
    "/": "<title>Shop</title><h1>Shop</h1><a href='/next'>Next</a><input type=file id=file><iframe src='/inner'></iframe>",
    "/next": "<title>Next page</title>",
    "/inner": "<button onclick='this.textContent=1'>Inner</button>",
    "/strict": {
      headers: { "content-security-policy": "default-src 'none'; require-trusted-types-for 'script'" },
      body: "<title>Strict</title>",
    },
    "/popup": "<button onclick=\"window.open('/next')\">Open</button>",
    "/dialog": "<button onclick=\"document.title = String(confirm('sure?'))\">Ask</button>",
  });
  [browser, runner] = await Promise.all([startTestBrowser(), createScriptRunner({ logger })]);
});
after(async () => {
  await Promise.all([runner?.close(), browser?.close(), site?.close()]);
});

async function play(script: string, options: { timeoutMs?: number; path?: string } = {}) {
  await browser.live.page().goto(`${site.url}${options.path ?? "/"}`);
  const outcome = await runner.run(browser.live, script, {
    timeoutMs: options.timeoutMs ?? 60_000,
    signal: never,
  });
  // The test's connection to the browser learns the page's URL slightly later than the script's connection does. One
  // answer from the page through the test's connection brings the URL up to date.
  await browser.live
    .page()
    .evaluate("0")
    .catch(() => {});
  return outcome;
}
async function fail(script: string, options: { timeoutMs?: number; path?: string } = {}) {
  const outcome = await play(script, options);
  assert.equal(outcome.ok, false, JSON.stringify(outcome).slice(0, 500));
  return outcome.ok ? "" : outcome.error;
}
async function read(script: string, options: { timeoutMs?: number; path?: string } = {}) {
  const outcome = await play(script, options);
  assert.equal(outcome.ok, true, JSON.stringify(outcome).slice(0, 500));
  return outcome.ok ? outcome.value : undefined;
}

describe("what a script can do", () => {
  test("it works on the page and returns JSON", async () => {
    const value = await read(
      "await page.getByText('Next').click(); await page.waitForURL('**/next'); return { title: await page.title() }",
    );
    assert.deepEqual(value, { title: "Next page" });
    assert.equal(browser.live.page().url(), `${site.url}/next`);
  });
  test("it goes to another address", async () => {
    assert.equal(await read(`await page.goto("${site.url}/next"); return page.url()`), `${site.url}/next`);
  });
  test("it reaches into frames", async () => {
    assert.equal(
      await read(
        "const b = page.frameLocator('iframe').locator('button'); await b.click(); return b.textContent()",
      ),
      "1",
    );
  });
  test("it works under a strict content security policy", async () => {
    assert.equal(await read("return page.evaluate(() => document.title)", { path: "/strict" }), "Strict");
  });
  test("it sees the popups of its page, and may close them", async () => {
    const value = await read(
      "const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByText('Open').click()]); await popup.waitForURL('**/next'); const title = await popup.title(); await popup.close(); return title",
      { path: "/popup" },
    );
    assert.equal(value, "Next page");
  });
  test("a dialog does not stop it", async () => {
    assert.match(
      String(await read("await page.getByText('Ask').click(); return page.title()", { path: "/dialog" })),
      /true|false/,
    );
  });
  test("it uploads bytes of its own", async () => {
    const value = await read(
      "const buffer = new TextEncoder().encode('hi'); await page.setInputFiles('#file', { name: 'a.txt', mimeType: 'text/plain', buffer: page.constructor.constructor('return Buffer')().from(buffer) }); return page.evaluate(() => document.querySelector('#file').files[0].name)",
    );
    assert.equal(value, "a.txt");
  });
  test("its console output is returned, also when it fails", async () => {
    const outcome = await play(
      "console.log('one', { two: 2 }); console.error('three'); throw new Error('four')",
    );
    assert.equal(outcome.logs, "one { two: 2 }\nthree\n");
  });
  test("its result describes handles, bytes and circular references", async () => {
    const value = await read(
      "const a = { handle: page.locator('h1'), bytes: new Uint8Array(3), big: 1n }; a.self = a; return a",
    );
    assert.deepEqual(value, { handle: "locator('h1')", bytes: "[3 bytes]", big: "1n", self: "[circular]" });
  });
  test("it calls its helpers", async () => {
    await browser.live.page().goto(site.url);
    const outcome = await runner.run(browser.live, "return page.double(21)", {
      timeoutMs: 60_000,
      signal: never,
      helpers: { double: async (value) => Number(value) * 2 },
    });
    assert.deepEqual(outcome, {
      ok: true,
      value: 42,
      logs: "",
      openCalls: [],
      pageCount: 1,
      acts: [],
      hasEndedPageScript: false,
    });
  });
  for (const close of ["context.close()", "page.context().browser().close()"])
    test(`${close} is refused at once`, async () => {
      assert.match(
        await fail(`await ${close}`, { timeoutMs: 60_000 }),
        /The browser belongs to the session; a script cannot close it\./,
      );
    });
  test("the page's size is restored after it", async () => {
    assert.equal(
      await read(
        "await page.setViewportSize({ width: 400, height: 300 }); return page.evaluate(() => innerWidth)",
      ),
      400,
    );
    assert.equal(await browser.live.page().evaluate(() => innerWidth), 1280);
  });
});

describe("the errors of a script", () => {
  test("name the script's line", async () => {
    assert.match(
      await fail("const a = 1;\n\nthrow new Error('boo')"),
      /Error: boo\nat line 3, column 7: throw new Error/,
    );
  });
  test("name the line of a syntax error, and nothing has run", async () => {
    assert.match(await fail("await page.goto('about:blank');\nconst = ;"), /SyntaxError.*\nat line 2/);
    assert.equal(browser.live.page().url(), `${site.url}/`);
  });
  test("explain which functions a script does not have", async () => {
    const outcome = await play("return require('fs')");
    assert.match(outcome.ok ? "" : outcome.error, /at line 1, column 8: return require/);
    assert.match(outcome.ok ? "" : String(outcome.hint), /has page, context and console only/);
  });
  test("name the line of an action that timed out", async () => {
    assert.equal(
      await fail("\nawait page.click('#none', { timeout: 200 })"),
      "TimeoutError: page.click: Timeout 200ms exceeded: no element matches\nat line 2, column 12: await page.click('#none', { timeout: 200 })",
    );
  });
});

describe("what a script cannot do", () => {
  test("reach anything but its names and its page", async () => {
    const refusals: [expression: string, answer: RegExp][] = [
      ["process.env.HOME", /reading 'env'/],
      ["require('fs')", /require is not a function/],
      ["import('node:net')", /dynamic import/i],
      ["fetch('http://127.0.0.1')", /fetch is not a function/],
      ["page.goto('file:///etc/passwd')", /was refused: a script may open http\(s\)/],
      ["page.goto('chrome://version')", /was refused/],
      ["page.goto('javascript:1')", /was refused/],
      ["page.frames()[1].goto('file:///etc/passwd')", /was refused/],
      ["context.browser().newContext()", /opens no further contexts/],
      ["context.newCDPSession(page)", /not given to scripts/],
      ["context.browser().newBrowserCDPSession()", /not given to scripts/],
      ["page.close()", /last page of the session; it stays open/],
      ["context.grantPermissions(['geolocation'])", /not open to scripts/],
      ["page.screenshot({ path: '/tmp/x.png' })", /restricted|EROFS|ENOENT/],
      ["page.setInputFiles('#file', '/etc/passwd')", /this session has no workspace/],
    ];
    const attempts = refusals.map(
      ([expression]) => `await (async () => ${expression})().then(() => "done", (error) => error.message)`,
    );
    const answers = (await read(`return [${attempts.join(",\n")}]`)) as string[];
    for (const [index, [expression, answer]] of refusals.entries()) {
      assert.match(answers[index] ?? "", answer, expression);
    }
  });
  test("close the session's page", async () => {
    await play("await page.close()");
    await play("for (const one of context.pages()) await one.close()");
    assert.equal(await browser.live.page().title(), "Shop");
  });
  test("see other contexts of the browser", async () => {
    const other = await browser.live.browser.newContext();
    await other.addCookies([{ name: "foreign", value: "1", url: site.url }]);
    await (await other.newPage()).goto(`${site.url}/next`);
    const value = await read(
      "return { cookies: (await context.cookies()).map((c) => c.name), contexts: context.browser().contexts().length, pages: context.pages().length }",
    );
    assert.deepEqual(value, { cookies: [], contexts: 1, pages: 1 });
    await other.close();
  });
  test("read a file through the page", async () => {
    const value = await read(
      "return page.evaluate(() => fetch('file:///etc/passwd').then((r) => r.text(), () => 'refused'))",
    );
    assert.equal(value, "refused");
  });
  test("find anything in Node's own environment", async () => {
    const value = (await read(`return Object.keys(${NODE}.env)`)) as string[];
    assert.deepEqual(
      value.filter((name) => !["HOME", "PATH", "PWD"].includes(name)),
      [],
    );
  });
  test("read files through Node", async () => {
    const paths = ["/etc/passwd", "/proc/1/environ", new URL("../index.ts", import.meta.url).pathname];
    const attempt =
      "(path) => { try { return fs.readFileSync(path, 'utf8') } catch (error) { return error.code } }";
    const value = await read(
      `const fs = ${NODE}.getBuiltinModule('fs'); return ${JSON.stringify(paths)}.map(${attempt})`,
    );
    assert.deepEqual(value, ["ERR_ACCESS_DENIED", "ERR_ACCESS_DENIED", "ERR_ACCESS_DENIED"]);
  });
  test("start a process through Node", async () => {
    assert.match(await fail(`return ${NODE}.getBuiltinModule('child_process').execSync('id')`), /restricted/);
  });
  test("reach the loopback through Node", async () => {
    assert.match(
      await fail(`return ${NODE}.getBuiltinModule('http').get('${site.url}') && new Promise(() => {})`, {
        timeoutMs: 60_000,
      }),
      /no network of their own/,
    );
    if (runner.describe().kind === "permissions") return;
    // The blocked socket functions of Node are not the only barrier: the namespace has no network interface but the
    // loopback.
    const value = await read(
      `const networks = ${NODE}.getBuiltinModule('os').networkInterfaces(); return Object.keys(networks).filter((name) => name !== 'lo')`,
    );
    assert.deepEqual(value, []);
  });
  test("end any process but its own", async () => {
    assert.match(await fail(`${NODE}.exit(7)`), /ended by itself \(exit code 7\)/);
    assert.equal(await read("return 1"), 1);
  });
  test("flood the service", async () => {
    assert.match(await fail(`${NODE}.stdout.write('x'.repeat(1e8))`), /too large|output/);
    const loud = await play("for (let i = 0; i < 1e5; i++) console.log('x'.repeat(1000))");
    assert.ok(loud.logs.length < 50_000);
    const large = await read("return 'x'.repeat(1e8)");
    assert.ok(String(large).length < 210_000);
    assert.match(String(large), /100000002 characters in all/);
  });
  test("forge messages of the relay", async () => {
    const forged = JSON.stringify({ type: "devtools", message: { id: 1e6, method: "Browser.close" } });
    await play(
      `${NODE}.stdout.write(${JSON.stringify(forged)} + "\\n"); await page.waitForTimeout(50); return 1`,
    );
    assert.equal(browser.live.browser.isConnected(), true);
  });
  test("take all memory", async () => {
    assert.match(await fail("const a = []; for (;;) a.push(new Array(1e6).fill(1.5))"), /more memory/);
    const { kind } = runner.describe();
    if (process.platform !== "linux") return;
    assert.match(
      await fail(
        `const B = ${NODE.replace("process", "Buffer")}; const a = []; for (;;) a.push(B.alloc(1e8, 1))`,
      ),
      /memory/i,
      kind,
    );
  });
  test("run past its deadline, or delay other scripts", async () => {
    await browser.live.page().goto(site.url);
    const endless = runner.run(browser.live, "for (;;) {}", { timeoutMs: 1_500, signal: never });
    const other = await runner.run(browser.live, "return 1", { timeoutMs: 60_000, signal: never });
    assert.equal(other.ok, true);
    // `pageCount` is ignored: on a busy machine, the deadline may pass before the script is connected to the page.
    const { pageCount: _, ...outcome } = await endless;
    assert.deepEqual(outcome, {
      ok: false,
      error: "The script ran longer than 1500 ms and was ended.",
      isThrown: false,
      hint: undefined,
      logs: "",
      openCalls: [],
      timedOut: true,
      acts: [],
      hasEndedPageScript: false,
    });
    assert.equal(await browser.live.page().title(), "Shop");
  });
});

describe("a busy page", () => {
  test("answers again after the script that kept it busy has ended", async () => {
    assert.match(
      await fail("await page.evaluate(() => { for (;;); })", { timeoutMs: 1_500 }),
      /ran longer than 1500 ms/,
    );
    const outcome = await runner.run(browser.live, "return page.title()", {
      timeoutMs: 60_000,
      signal: never,
    });
    assert.equal(outcome.ok && outcome.value, "Shop");
  });
  test("can be left by a script, although the page's own script never ends", async () => {
    const { live } = browser;
    await live.page().goto(site.url);
    await live.page().evaluate("void setTimeout(() => { for (;;); })");
    const script = `await page.goto("${site.url}/next"); return page.title()`;
    const outcome = await runner.run(live, script, { timeoutMs: 60_000, signal: never });
    assert.deepEqual([outcome.ok && outcome.value, outcome.hasEndedPageScript], ["Next page", true]);
  });
});

test("a stop ends a running script and a waiting one", async () => {
  await browser.live.page().goto(site.url);
  const single = await createScriptRunner({ logger, maxConcurrent: 1 });
  const controller = new AbortController();
  const options = { timeoutMs: 60_000, signal: controller.signal };
  const both = [
    single.run(browser.live, "for (;;) {}", options),
    single.run(browser.live, "return 1", options),
  ];
  controller.abort();
  for (const outcome of await Promise.all(both))
    assert.equal(outcome.ok ? "" : outcome.error, "The script was stopped.");
  await single.close();
});

test("closing a runner leaves no process behind", { skip: process.platform !== "linux" }, async () => {
  const before = findDescendants();
  const isNew = ({ id }: Descendant) => !before.some((each) => each.id === id);
  const listNew = () => findDescendants().filter((each) => /script-child/.test(each.command) && isNew(each));
  const other = await createScriptRunner({ logger });
  let started: Descendant[];
  try {
    const outcome = await other.run(browser.live, "return 1", { timeoutMs: 60_000, signal: never });
    assert.equal(outcome.ok, true, JSON.stringify(outcome));
    // The runner starts a spare process after the script has ended.
    started = await waitFor(() => listNew().length > 0 && listNew(), "the spare process");
  } finally {
    await other.close();
  }
  // A process that has lost its parent is no longer a descendant, but has kept its id.
  const isGone = ({ pid, id }: Descendant) => readDescendant(pid)?.id !== id;
  await waitFor(() => started.every(isGone) && listNew().length === 0, "the end of the script processes");
});

test("concurrent scripts have separate users, filtered system calls and no descriptor of the service", async (t) => {
  closeInheritedDescriptors();
  const confined = await createScriptRunner({ logger, isWarm: false });
  if (confined.refusal !== undefined) return t.skip("bubblewrap does not work on this machine");
  await browser.live.page().goto(site.url);
  // The runner of the other tests has a spare process, which must not be counted.
  const others = new Set(findProcesses("/runner/node"));
  const stop = new AbortController();
  const endless = "console.log('begun'); await new Promise(() => {})";
  const options = { timeoutMs: 60_000, signal: stop.signal };
  const runs = [confined.run(browser.live, endless, options), confined.run(browser.live, endless, options)];
  const children = await waitFor(() => {
    const found = findProcesses("/runner/node").filter((pid) => !others.has(pid));
    return found.length >= 2 && found;
  }, "both processes");
  const read = (pid: string) => readFileSync(`/proc/${pid}/status`, "utf8");
  const users = children.map((pid) => /^Uid:\t(\d+)/m.exec(read(pid))?.[1]);
  const own = new Set(
    readDescriptors("self").filter((each) => !/^(\/dev\/(null|urandom)|anon_inode:)/.test(each)),
  );
  for (const pid of children) {
    if (process.arch === "x64" || process.arch === "arm64") assert.match(read(pid), /^Seccomp:\t2$/m);
    assert.deepEqual(
      readDescriptors(Number(pid)).filter((each) => own.has(each)),
      [],
    );
  }
  if (process.getuid?.() === 0 && confined.describe().detail.includes("a user per process")) {
    assert.equal(new Set(users).size, users.length);
    for (const pid of children)
      assert.match(readFileSync(`/proc/${pid}/limits`, "utf8"), /^Max processes +128 +128 /m);
    const accounts = readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .map((line) => line.split(":")[2]);
    assert.ok(
      users.every((user) => user !== "0" && !accounts.includes(user)),
      users.join(),
    );
  }
  stop.abort();
  await Promise.all(runs);
  await confined.close();
});

/** A process: its number, its parent's number, its command line, and an id that no other process ever has. */
type Descendant = { pid: string; parent: string; command: string; id: string };

/** Reads a process. Returns undefined if it has ended. */
function readDescendant(pid: string): Descendant | undefined {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    const [state, parent = "0"] = fields;
    return state === "Z" ? undefined : { pid, parent, command, id: `${pid} ${fields[19]}` };
  } catch {
    return undefined;
  }
}

/** Lists the running processes that descend from this process. */
function findDescendants(): Descendant[] {
  const all = new Map<string, Descendant>();
  for (const name of readdirSync("/proc")) {
    const found = /^\d+$/.test(name) ? readDescendant(name) : undefined;
    if (found) all.set(name, found);
  }
  const isBelow = ({ parent }: Descendant): boolean => {
    const above = all.get(parent);
    return parent === String(process.pid) || (above !== undefined && isBelow(above));
  };
  return [...all.values()].filter(isBelow);
}

/** Finds descendants of this process whose program is `file`. */
const findProcesses = (file: string): string[] =>
  findDescendants().flatMap(({ pid, command }) => (command.startsWith(`${file}\0`) ? [pid] : []));

test("without bubblewrap, scripts are refused unless weaker confinement is allowed", async () => {
  const warnings: string[] = [];
  // With this path, Node cannot start in any confinement.
  const options = {
    logger: { warn: (...words: unknown[]) => void warnings.push(String(words[1])) },
    nodePath: "/bin/false",
  };
  const none = await createScriptRunner(options);
  assert.match(none.refusal ?? "", /^Scripts cannot run on this deployment: they need bubblewrap/);
  assert.match(warnings.join(), /browser_execute refuses scripts.*install it.*or set SANDBOX=unconfined/);
  assert.deepEqual(await none.run(browser.live, "return 1", { timeoutMs: 60_000, signal: never }), {
    ok: false,
    error: none.refusal,
    isThrown: false,
    hint: undefined,
    timedOut: false,
    logs: "",
    openCalls: [],
    acts: [],
    hasEndedPageScript: false,
    pageCount: 0,
  });
  assert.match(none.describe().detail, /^scripts are refused \(bubblewrap: /);
  await none.close();
  const still = await createScriptRunner({ ...options, isUnconfinedAllowed: true });
  assert.match(still.describe().detail, /refused \(bubblewrap: /);
  const weaker = await createScriptRunner({
    logger: options.logger,
    isUnconfinedAllowed: true,
    isWarm: false,
    confinement: ["permissions"],
  });
  assert.equal(weaker.refusal, undefined);
  assert.match(warnings.at(-1) ?? "", /scripts run without bubblewrap \(SANDBOX=unconfined\)/);
});

for (const kind of ["namespaces", "permissions"] as const) {
  test(`without bubblewrap, scripts run with ${kind}`, { skip: process.platform !== "linux" }, async (t) => {
    const weaker = await createScriptRunner({ logger, isWarm: false, confinement: [kind] });
    if (weaker.refusal !== undefined) return t.skip("this machine does not have it");
    assert.equal(weaker.describe().kind, kind);
    await browser.live.page().goto(site.url);
    const run = (script: string) => weaker.run(browser.live, script, { timeoutMs: 60_000, signal: never });
    assert.deepEqual(await run("return page.title()"), {
      ok: true,
      value: "Shop",
      logs: "",
      openCalls: [],
      acts: [],
      hasEndedPageScript: false,
      pageCount: 1,
    });
    for (const script of [
      `return ${NODE}.getBuiltinModule('fs').readFileSync('/etc/passwd', 'utf8')`,
      `return ${NODE}.getBuiltinModule('child_process').execSync('id')`,
      `return ${NODE}.getBuiltinModule('http').get('${site.url}') && new Promise(() => {})`,
    ]) {
      assert.equal((await run(script)).ok, false, script);
    }
    await weaker.close();
  });
}

test("a malformed message ends the script, not the service", async () => {
  const nonsense = [
    { type: "devtools", message: "x" },
    { type: "devtools" },
    { type: "ask", id: 9, name: { toString: 1 }, args: [] },
    { type: "ask", id: 9, name: "readFile", args: 1 },
    { type: "dialogs", isListening: 1 },
    { type: "unknown" },
    { type: "log", text: { toString: 1 } },
    { type: "done", ok: false, error: { toString: 1 } },
    { type: "call", id: { toString: 1 } },
    { type: "call", id: 1, name: { toString: 1 } },
    { type: "ref", ref: { toString: 1 } },
  ];
  for (const message of nonsense) {
    const line = JSON.stringify(message);
    const error = await fail(
      `${NODE}.stdout.write(${JSON.stringify(line)} + "\\n"); await new Promise(() => {})`,
    );
    assert.equal(error, "The script's process sent an invalid message.");
  }
  for (const name of ["'none'", "{ toString: 1 }", "'__proto__'"])
    await play(
      `${NODE}.stdout.write(JSON.stringify({ type: "ask", id: 9, name: ${name}, args: 1 }) + "\\n");`,
    );
  assert.equal(await read("return 1"), 1);
});

test("with Node's permission model alone, a script still has no network and no other process", async () => {
  await browser.live.page().goto(site.url);
  const weaker = await createScriptRunner({ logger, isWarm: false, confinement: ["permissions"] });
  const doors = [
    `P.kill(${process.pid}, 0)`,
    `P._kill(${process.pid}, 0)`,
    `P._debugProcess(${process.pid})`,
    "P.getBuiltinModule('dgram').createSocket('udp4').send('x', 9, '127.0.0.1')",
    "P.getBuiltinModule('dgram').createSocket('udp4').bind(0)",
    "P.getBuiltinModule('net').createServer().listen(0)",
    "P.getBuiltinModule('net').connect(9, '127.0.0.1')",
  ];
  const tried = doors.map((door) => `try { ${door}; open.push(${JSON.stringify(door)}) } catch {}`);
  const outcome = await weaker.run(
    browser.live,
    `const P = ${NODE}; const open = []; ${tried.join("\n")} return open`,
    { timeoutMs: 60_000, signal: never },
  );
  await weaker.close();
  assert.deepEqual(outcome.ok && outcome.value, [], JSON.stringify(outcome));
});
