import assert from "node:assert/strict";
import { mkdir, readdir, rmdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { bytes, makeSandboxFixture, options, refused } from "../sandbox-fixture.ts";
import { TEST_PROXY_SOCKET, type TestProgram } from "../sandbox-service.ts";

const fixture = await makeSandboxFixture();
after(() => fixture.remove());
const { itRuns } = fixture;

const program = (script: string, more: Partial<TestProgram> = {}): TestProgram => ({
  files: [{ path: "/run/main.mjs", bytes: bytes(script) }],
  script: "/run/main.mjs",
  packages: [],
  shown: [],
  proxyPort: 1,
  ...more,
});

describe("a test program in the local sandbox", () => {
  itRuns(
    "sees the workspace, its own files and the shown folders, and nothing else of the machine",
    async (workspace) => {
      await workspace.writeFile("page.html", bytes("<h1>Hello</h1>"));
      const result = await workspace.runTests(
        program(
          `import fs from "node:fs";
        fs.writeFileSync("made.txt", "made");
        const attempt = (work) => { try { return String(work()); } catch (error) { return error.code; } };
        console.log(JSON.stringify([
          process.cwd(), fs.readFileSync("page.html", "utf8"), fs.existsSync("/shown/read-report.ts"),
          attempt(() => fs.writeFileSync("/shown/x", "")), attempt(() => fs.writeFileSync("/run/main.mjs", "")),
          attempt(() => fs.readFileSync("/etc/passwd")), Object.keys(process.env).sort(),
        ]));`,
          { shown: [{ from: join(import.meta.dirname, "../../test-runs"), to: "/shown" }] },
        ),
        options(),
      );
      const results = JSON.parse(result.output) as unknown[];
      assert.deepEqual(results.slice(0, 3), ["/workspace", "<h1>Hello</h1>", true]);
      assert.match(String(results[3]), /EROFS|EACCES/);
      assert.match(String(results[4]), /EROFS|EACCES/);
      assert.equal(results[5], "ENOENT");
      assert.ok(
        !(results[6] as string[]).some((name) => /KEY|SECRET|DATA|NODE_/.test(name)),
        String(results[6]),
      );
      assert.equal(Buffer.from((await workspace.readFile("made.txt", 10)).bytes).toString(), "made");
    },
  );

  itRuns("reaches only the proxy's port, through its socket, and no network", async (workspace) => {
    const server = createServer((request, response) => response.end(`asked for ${request.url}`));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const result = await workspace.runTests(
      program(
        `import http from "node:http"; import net from "node:net";
        const ask = (options) => new Promise((done) => http.get(options, (response) => response.on("data", (text) => done(String(text)))).on("error", (error) => done(error.code)));
        console.log(await ask({ socketPath: ${JSON.stringify(TEST_PROXY_SOCKET)}, path: "/by-socket" }));
        console.log(await ask({ host: "127.0.0.1", port: ${port}, path: "/direct" }));
        console.log(await new Promise((done) => net.connect(80, "192.0.2.1").on("error", (error) => done(error.code))));`,
        { proxyPort: port },
      ),
      options(),
    );
    server.close();
    assert.deepEqual(result.output.trim().split("\n"), [
      "asked for /by-socket",
      "ECONNREFUSED",
      "ENETUNREACH",
    ]);
  });

  itRuns(
    "is killed at its deadline and at a stop, and its folders are removed, also those of a killed service",
    async (workspace) => {
      const abandoned = join(tmpdir(), "agent-session-tests-4194303-abandoned");
      await mkdir(abandoned, { recursive: true });
      const foreign = join(tmpdir(), "agent-session-tests-9abcde");
      await mkdir(foreign, { recursive: true });
      const late = await workspace.runTests(program("setInterval(() => {}, 1000);"), {
        ...options(),
        timeoutMs: 1_500,
      });
      assert.deepEqual([late.timedOut, late.exitCode], [true, null]);
      const stop = new AbortController();
      const stopped = workspace.runTests(program("setInterval(() => {}, 1000);"), {
        timeoutMs: 20_000,
        signal: stop.signal,
      });
      setTimeout(() => stop.abort(), 500);
      assert.match((await stopped).output, /ended/);
      const own = (await readdir(tmpdir())).filter((name) =>
        name.startsWith(`agent-session-tests-${process.pid}-`),
      );
      assert.deepEqual(own, []);
      assert.ok(!(await readdir(tmpdir())).includes("agent-session-tests-4194303-abandoned"));
      await rmdir(foreign);
    },
  );

  it("is refused without bubblewrap", async () => {
    const workspace = await (await fixture.make("unconfined")).open("ses_unconfined");
    await assert.rejects(
      workspace.runTests(program(""), options()),
      refused(/test runs need bubblewrap: with SANDBOX=unconfined nothing would confine the tests/),
    );
  });
});
