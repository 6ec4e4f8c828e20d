import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

/** All client scenarios of the suite except OAuth, which is not needed: callers supply the headers for their servers. */
const SCENARIOS = ["initialize", "tools_call", "sse-retry", "elicitation-sep1034-client-defaults"];

const program = fileURLToPath(new URL("./conformance-client-testing.ts", import.meta.url));

describe("the official conformance suite finds nothing to object to in the client", {
  concurrency: 2,
}, () => {
  for (const scenario of SCENARIOS) {
    it(scenario, async () => {
      const folder = await mkdtemp(join(tmpdir(), "mcp-conformance-"));
      try {
        const suite = createRequire(import.meta.url).resolve(
          "@modelcontextprotocol/conformance/dist/index.js",
        );
        const command = `${process.execPath} --disable-warning=ExperimentalWarning ${program}`;
        const child = spawn(
          process.execPath,
          [suite, "client", "--command", command, "--scenario", scenario],
          {
            cwd: folder,
            stdio: ["ignore", "pipe", "pipe"],
            timeout: 60_000,
          },
        );
        const ended = new Promise((resolve) => child.once("close", resolve));
        const [code, output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
        assert.equal(code, 0, output + errors);
        assert.match(output + errors, /Passed: [1-9]/);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  }
});
