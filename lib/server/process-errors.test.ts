import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { createRejectionLog } from "./process-errors.ts";

/** Runs code in a process with the service's policy, which prints its log lines. */
function run(code: string) {
  const script = `
    import { handleProcessErrors } from ${JSON.stringify(join(import.meta.dirname, "process-errors.ts"))};
    handleProcessErrors({ error: ({ err }, text) => console.log(text + ": " + err?.message) });
    ${code}`;
  const { status, stdout } = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", script], {
    encoding: "utf8",
  });
  return { status, lines: stdout.trim().split("\n") };
}

test("an exception that was not caught is logged and ends the process with status 1", () => {
  const { status, lines } = run(`
    setTimeout(() => { throw new Error("a mistake"); });
    setTimeout(() => console.log("still running"), 60_000);`);
  assert.deepEqual(lines, ["an exception was not caught; the process ends: a mistake"]);
  assert.equal(status, 1);
});

test("a rejection that was not handled is logged, and the process works on", () => {
  const { status, lines } = run(`
    void Promise.reject(new Error("a mistake"));
    setTimeout(() => console.log("still running"), 50);`);
  assert.deepEqual(lines, ["a promise rejection was not handled: a mistake", "still running"]);
  assert.equal(status, 0);
});

test("rejections in a loop do not fill the log", () => {
  const lines: [object, string][] = [];
  let nowMs = 0;
  const log = createRejectionLog({ error: (fields, text) => void lines.push([fields, text]) }, () => nowMs);
  for (let count = 0; count < 1_000; count += 1) log(new Error("again"));
  assert.equal(lines.length, 20);
  nowMs = 60_000;
  log(new Error("later"));
  assert.deepEqual(lines[20], [{ leftOut: 980 }, "promise rejections of the last minutes were not logged"]);
  assert.equal(lines.length, 22);
});
