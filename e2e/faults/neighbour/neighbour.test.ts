import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { INPUTS } from "./inputs/index.ts";
import { medianOf } from "./measure-turns.ts";
import { MIB, watchMemory } from "./watch-memory.ts";

test("every input has a name of its own, and does something", () => {
  assert.equal(new Set(INPUTS.map(({ name }) => name)).size, INPUTS.length);
  for (const { name, steps, attack } of INPUTS) assert.ok(steps ?? attack, name);
});

test("the median of an even number of times lies between the middle ones", () => {
  assert.deepEqual([medianOf([3, 1, 2]), medianOf([4, 1, 3, 2]), medianOf([])], [2, 2.5, 0]);
});

test("a process that takes more memory than its limit is ended, and its peak is known", async () => {
  const program = `const held = []; setInterval(() => held.push(Buffer.alloc(${4 * MIB}, 1)), 5); setTimeout(() => process.exit(3), 60_000)`;
  const child = spawn(process.execPath, ["-e", program], { stdio: "ignore" });
  const memory = watchMemory(child.pid ?? 0, 200 * MIB);
  const [code, signal] = await new Promise<[number | null, string | null]>((done) =>
    child.once("exit", (...end) => done(end)),
  );
  memory.stop();
  assert.deepEqual([code, signal, memory.hasEnded()], [null, "SIGKILL", true]);
  assert.ok(memory.peak.bytes > 200 * MIB && memory.peak.process === "service");
});
