import assert from "node:assert/strict";
import { test } from "node:test";
import { startScriptProcess } from "./script-process.ts";

test("a child that leaves more than 64 MiB unread is killed", async () => {
  const child = startScriptProcess({ command: "sleep", args: ["300"], inputs: [] });
  const message = { method: "Runtime.consoleAPICalled", params: { text: "x".repeat(8 * 2 ** 20) } };
  for (let sent = 0; sent < 9; sent++) child.send({ type: "devtools", message });
  assert.deepEqual(await child.ended, { reason: "The script stopped reading messages from the page." });
});
