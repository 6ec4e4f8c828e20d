import assert from "node:assert/strict";
import { test } from "node:test";
import { type ScriptProcess, startScriptProcess } from "./script-process.ts";
import type { FromChild } from "./script-protocol.ts";

/** Starts a process that runs this code without confinement. It can do to its pipes what a hostile script can do. */
const start = (code: string) =>
  startScriptProcess({ command: process.execPath, args: ["--eval", code], inputs: [] });
/** Collects the messages of a process. `next` resolves when it has sent that many. */
function collect(child: ScriptProcess) {
  const messages: FromChild[] = [];
  let wake = () => {};
  child.listen((message) => {
    messages.push(message);
    wake();
  });
  const until = async (count: number) => {
    while (messages.length < count)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  };
  return { messages, until };
}
const LOG = `(JSON.stringify({ type: "log", text: "x".repeat(1000) }) + "\\n")`;
const FOREVER = "setInterval(() => {}, 1000);";

test("a child that leaves more than 64 MiB unread is killed", async () => {
  const child = startScriptProcess({ command: "sleep", args: ["300"], inputs: [] });
  const message = { method: "Runtime.consoleAPICalled", params: { text: "x".repeat(8 * 2 ** 20) } };
  for (let sent = 0; sent < 9; sent++) child.send({ type: "devtools", message });
  assert.deepEqual(await child.ended, { reason: "The script stopped reading messages from the page." });
});

test("the messages of a child wait in its pipe until the service has handled the earlier ones", async () => {
  const child = start(`for (let n = 0; n < 5000; n++) process.stdout.write(${LOG});`);
  const handled = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  let count = 0;
  child.listen(() => {
    count += 1;
    arrived.resolve();
    return handled.promise;
  });
  await arrived.promise;
  for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(count, 1);
  handled.resolve();
  await child.ended;
  assert.equal(count, 5000);
});

test("the messages of a child that does not read its own are not handled", async () => {
  const child = start(`setTimeout(() => process.stdout.write(${LOG}.repeat(3)), 1); ${FOREVER}`);
  const seen = collect(child);
  // Fills the child's pipe, which it never reads.
  for (let sent = 0; sent < 6; sent++)
    child.send({ type: "devtools", message: { text: "x".repeat(2 ** 20) } });
  await seen.until(1);
  for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(seen.messages.length, 1);
  child.kill();
  await child.ended;
});

const ENDS: [sentence: string, code: string, reason: RegExp][] = [
  ["writes garbage", `process.stdout.write("hello\\n"); ${FOREVER}`, /wrote to its process's output/],
  [
    "writes a line that does not end",
    `const write = () => process.stdout.write("x".repeat(65536), write); write();`,
    /too large/,
  ],
  [
    "writes a message that does not end",
    `const line = "+" + "x".repeat(2 ** 20 - 2) + "\\n"; const write = () => process.stdout.write(line, write); write();`,
    /too large/,
  ],
  [
    "closes its output and goes on",
    `require("node:fs").closeSync(1); ${FOREVER}`,
    /^The script's process was ended\.$/,
  ],
  [
    "throws after it has flooded its error output",
    `try { for (let n = 0; n < 1e4; n++) require("node:fs").writeSync(2, "x".repeat(65536)); } catch {} process.exit(3);`,
    /^The script's process ended by itself \(exit code 3\): x+$/,
  ],
];
for (const [sentence, code, reason] of ENDS)
  test(`a child that ${sentence} is ended`, async () => {
    const child = start(code);
    const end = await child.ended;
    assert.match(end.reason, reason);
    assert.ok(end.reason.length < 10_000);
  });

test("a child that ignores signals, floods its pipes and does not read is killed", async () => {
  const child = start(
    `for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
     const write = () => { process.stdout.write(${LOG}, write); process.stderr.write("x"); }; write();`,
  );
  const seen = collect(child);
  await seen.until(100);
  child.kill();
  assert.deepEqual(await child.ended, { reason: "The script's process was ended." });
  const { length } = seen.messages;
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(seen.messages.length <= length + 1);
  await child.drained();
});
