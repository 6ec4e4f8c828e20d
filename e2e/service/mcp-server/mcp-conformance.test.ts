import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { startConformanceServer } from "./mcp-conformance-testing.ts";

/**
 * Scenarios that a stateless server does not support. The server cannot ask its client a question during a call,
 * because the answer is a new request that may reach another process. It also has no sessions or streams to which a
 * client could reconnect.
 */
const UNSUPPORTED = [
  "tools-call-sampling",
  "tools-call-elicitation",
  "elicitation-sep1034-defaults",
  "elicitation-sep1330-enums",
  "server-sse-polling",
  "server-sse-multiple-streams",
];

test("the built-in server's transport passes the official conformance suite", async () => {
  const folder = await mkdtemp(join(tmpdir(), "mcp-conformance-"));
  const server = await startConformanceServer();
  try {
    const baseline = join(folder, "baseline.yml");
    await writeFile(baseline, `server:\n${UNSUPPORTED.map((name) => `  - ${name}\n`).join("")}`);
    const suite = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/dist/index.js");
    const child = spawn(
      process.execPath,
      [suite, "server", "--url", server.url, "--suite", "all", "--expected-failures", baseline],
      { cwd: folder, stdio: ["ignore", "pipe", "pipe"], timeout: 60_000 },
    );
    const ended = new Promise((resolve) => child.once("close", resolve));
    const [code, output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    assert.equal(code, 0, output + errors);
    assert.match(output, /dns-rebinding-protection/);
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
});
