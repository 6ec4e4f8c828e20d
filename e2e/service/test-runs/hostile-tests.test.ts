import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, before, describe } from "node:test";
import { listDescendants } from "#e2e/crash/processes.ts";
import { playTurn } from "../variants/variants-testing.ts";
import { itRuns, listRuns, openTestRunsService, readRun, runAndWait, write } from "./test-runs-testing.ts";

let fixture: Awaited<ReturnType<typeof openTestRunsService>>;
before(async () => {
  // Test runs may reach the demo shop, but no other port of this machine.
  fixture = await openTestRunsService({}, true);
});
after(() => fixture.close());

/** Makes the agent write one test file and run it. */
async function run(source: string, input: Record<string, unknown> = {}) {
  const { service, shop } = fixture;
  const steps = [write("tests/hostile.spec.ts", source), ...runAndWait({ baseUrl: shop.url, ...input })];
  const { session, results: answers } = await playTurn(service, steps, {}, 180_000);
  const [first] = await listRuns(service, session.sessionId);
  const ended = await readRun(service, session.sessionId, first?.id ?? assert.fail(answers.join("\n")));
  return { run: ended, answer: answers.at(-1) ?? "", sessionId: session.sessionId };
}

/** Returns a test file with a single test whose body consists of these lines. */
const testOf = (body: string) => `import { expect, test, chromium } from "@playwright/test";
import { execSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
test("hostile", async ({ page, request, browser, playwright }) => {
${body}
});`;

const passed = async (body: string, input?: Record<string, unknown>) => {
  const { run: ended } = await run(testOf(body), input);
  assert.equal(ended.status, "passed", JSON.stringify([ended.problem, ended.results], null, 1));
  return ended;
};

describe("a hostile test", () => {
  itRuns(
    "reaches no private host and no port of this machine except those that the live browser reaches",
    async () => {
      const secret = createServer((socket) =>
        socket.end("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret"),
      );
      await new Promise<void>((resolve) => secret.listen(0, "127.0.0.1", resolve));
      const { port } = secret.address() as { port: number };
      try {
        const ended = await passed(`
        for (const url of ["http://127.0.0.1:${port}/", "http://localhost:${port}/", "http://[::1]:${port}/", "http://169.254.169.254/latest/meta-data", "http://10.0.0.1/", "http://0.0.0.0:${port}/"]) {
          await page.goto(url, { timeout: 5_000 }).catch(() => {});
          expect(await page.content()).not.toContain("secret");
          const answer = await request.get(url, { timeout: 5_000 }).then((response) => response.text(), () => "");
          expect(answer).not.toContain("secret");
          expect(await fetch(url).then((response) => response.text(), () => "")).not.toContain("secret");
        }
        const direct = await new Promise((resolve) => {
          const socket = net.connect(${port}, "127.0.0.1");
          socket.on("connect", () => resolve("connected"));
          socket.on("error", (error) => resolve(error.code));
        });
        expect(direct).toBe("ECONNREFUSED");
        const bare = await browser.newContext({ proxy: { server: "http://127.0.0.1:${port}" } });
        const unproxied = await bare.newPage();
        await unproxied.goto("http://shop.example/", { timeout: 5_000 }).catch(() => {});
        expect(await unproxied.content()).not.toContain("secret");`);
        assert.match(ended.problem ?? "", new RegExp(`127\\.0\\.0\\.1:${port} was not reached: `));
      } finally {
        secret.close();
      }
    },
  );

  itRuns("reaches no file, variable or process of the service, and no other session", async () => {
    const ended = await passed(`
      const env = JSON.stringify(process.env);
      for (const name of ["OPENAI", "DATABASE", "ENCRYPTION", "SERVICE_API", "DATA_DIR"]) expect(env).not.toContain(name);
      for (const path of ["/etc/shadow", "/etc/passwd", "/root", "/home", "/work", "${fixture.service.dataDir}", "/var", process.cwd() + "/../../.data"])
        expect(fs.existsSync(path), path).toBe(false);
      const pids = fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name));
      const commands = pids.map((pid) => { try { return fs.readFileSync("/proc/" + pid + "/cmdline", "utf8"); } catch { return ""; } });
      expect(commands.join()).not.toContain("main.ts");
      expect(() => fs.writeFileSync("/node_modules/playwright/x", "")).toThrow();
      expect(() => fs.writeFileSync("/run-tests/settings.json", "{}")).toThrow();
      expect(() => execSync("mount -t tmpfs none /mnt 2>&1")).toThrow();
      expect(() => execSync("unshare --user true 2>&1")).toThrow();
      const first = await page.context().newCDPSession(page);
      await first.send("Page.navigate", { url: "file:///etc/hostname" }).catch(() => {});
      await page.goto("file:///etc/shadow").catch(() => {});
      expect(await page.content()).not.toContain("root:");`);
    assert.equal(ended.results.length, 1);
  });

  itRuns("cannot start another browser or set its launch options, which fails with a sentence", async () => {
    await passed(`
      for (const start of [() => chromium.launch({ args: ["--no-proxy-server"] }), () => chromium.launchPersistentContext("/tmp/p"), () => chromium.connectOverCDP("http://127.0.0.1:1")])
        await expect(start()).rejects.toThrow("A test run has one Chromium");`);
    for (const options of [
      '{ launchOptions: { args: ["--no-proxy-server"] } }',
      '{ channel: "chrome" }',
      '{ browserName: "firefox" }',
      '{ connectOptions: { wsEndpoint: "ws://127.0.0.1:1" } }',
    ]) {
      const { run: ended } = await run(`import { test } from "@playwright/test";
        test.use(${options});
        test("own browser", async ({ page }) => { await page.goto("about:blank"); });`);
      assert.equal(ended.status, "failed");
      assert.match(ended.results[0]?.errors.join("\n") ?? "", /A test run has one Chromium/, options);
    }
  });
});

describe("a failing test run", () => {
  itRuns("ends a test that never ends, and keeps the results of earlier tests", async () => {
    const { run: ended } = await run(
      `import { test } from "@playwright/test";
      test("first", async () => {});
      test("endless", async () => { for (;;) {} });
      test("never", async () => {});`,
      { timeoutSeconds: 10 },
    );
    assert.equal(ended.status, "failed");
    assert.match(ended.problem ?? "", /did not end in time|longer than 10 s/);
    assert.deepEqual(
      ended.results.map(({ titles, status }) => [titles.join(), status]),
      [
        ["first", "passed"],
        ["endless", "failed"],
      ],
    );
    assert.match(ended.results[1]?.errors[0] ?? "", /had not ended when the run was ended|did not end/);
  });

  itRuns("survives a fork bomb", async () => {
    const { run: ended } = await run(
      testOf(`execSync(":(){ :|:& };: ; sleep 5", { shell: "/bin/bash", stdio: "ignore" });`),
      { timeoutSeconds: 20 },
    );
    assert.notEqual(ended.endedAt, null);
    assert.deepEqual(
      listDescendants(process.pid).filter(({ name }) => name === "bwrap"),
      [],
    );
  });

  itRuns("refuses 10,000 tests", async () => {
    const { run: ended } = await run(`import { test } from "@playwright/test";
      for (let index = 0; index < 10_000; index++) test("number " + index, async () => {});`);
    assert.deepEqual(
      [ended.status, ended.problem],
      [
        "failed",
        "The files have 10000 tests, and a test run has at most 1000: run fewer files, or use grep.",
      ],
    );
  });

  itRuns("limits attachments and memory", async () => {
    const { run: large } = await run(testOf(`fs.writeFileSync("/workspace/big", Buffer.alloc(2 ** 30));`));
    assert.equal(large.status, "failed");
    assert.match(
      `${large.problem} ${large.results[0]?.errors.join()}`,
      /EFBIG|file too large|memory|did not end|quota/i,
    );
    const { run: attached } = await run(
      `import { test } from "@playwright/test";
      test("attaches", async ({}, info) => { await info.attach("big", { body: Buffer.alloc(30 * 2 ** 20), contentType: "application/zip" }); });`,
    );
    assert.deepEqual(
      [attached.status, attached.results[0]?.attachments.map(({ problem }) => problem)],
      ["passed", ["a kept file has at most 20 MiB"]],
    );
    const { run: hungry } = await run(
      testOf(`const kept = []; for (;;) kept.push(Buffer.alloc(2 ** 26, 1));`),
    );
    assert.equal(hungry.status, "failed");
    assert.ok(hungry.problem !== null || hungry.results[0]?.errors.length === 1);
  });

  itRuns("explains a file that cannot be loaded, files without tests, and unknown names", async () => {
    const { run: broken } = await run("import { test } from '@playwright/test';\ntest('x', async ( => {});");
    assert.equal(broken.status, "failed");
    assert.match(broken.problem ?? "", /SyntaxError[\s\S]*tests\/hostile\.spec\.ts/);
    const { run: empty } = await run("export {};");
    assert.deepEqual([empty.status, empty.problem], ["failed", "The files have no tests."]);
    const { run: missing } = await run(testOf(""), { files: ["tests/none.spec.ts"] });
    assert.equal(
      missing.problem,
      "There is no test file at tests/none.spec.ts. The workspace has tests/hostile.spec.ts.",
    );
    const { run: unmatched } = await run(testOf(""), { grep: "nothing is called this" });
    assert.deepEqual([unmatched.status, unmatched.problem], ["failed", "No test's title matches grep."]);
  });

  itRuns("ignores a forged report", async () => {
    const { run: ended } = await run(
      testOf(`fs.appendFileSync("/workspace/test-results/report.jsonl", "nonsense\\n" + JSON.stringify({ type: "end", id: "x" }) + "\\n" + JSON.stringify({ type: "begin", total: -1 }) + "\\n" + JSON.stringify({ __proto__: null, type: "start", id: "y", target: "elsewhere" }) + "\\n");
      fs.rmSync("/workspace/test-results/progress.json");`),
    );
    assert.deepEqual([ended.status, ended.results.length], ["passed", 1]);
  });

  itRuns("attaches no files outside of the workspace, also through links", async () => {
    const { run: ended } = await run(`import { test } from "@playwright/test";
      import fs from "node:fs";
      test("links", async ({}, info) => {
        fs.symlinkSync("/etc/passwd", info.outputPath("link"));
        info.attachments.push({ name: "link", contentType: "text/plain", path: info.outputPath("link") });
        info.attachments.push({ name: "up", contentType: "text/plain", path: "/etc/hostname" });
      });`);
    const stored = ended.results[0]?.attachments.filter(({ evidenceId }) => evidenceId !== null);
    assert.deepEqual(stored, [], JSON.stringify(ended.results[0]?.attachments));
  });
});
