import assert from "node:assert/strict";
import { test } from "node:test";
import { runCommand } from "./command.mjs";

test("of a command's output, the last 2,000,000 characters are kept", async () => {
  const script = `process.stdout.write("begin" + "x".repeat(3_000_000) + "end")`;
  const { ok, output } = await runCommand(process.execPath, ["-e", script]);
  assert.ok(ok);
  assert.equal(output.length, 2_000_000);
  assert.match(output, /^x+end$/);
});
