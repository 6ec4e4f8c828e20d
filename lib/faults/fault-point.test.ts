import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { afterEach, test } from "node:test";
import { armFaults, faultPoint, InjectedFault, parseFault } from "./fault-point.ts";

afterEach(() => armFaults(undefined));

const arm = (text: string) => {
  const spec = parseFault(text);
  assert.ok(spec, text);
  armFaults(spec);
};

test("a point that is not armed does nothing and returns no promise", () => {
  assert.equal(faultPoint("create-begun"), undefined);
});

test("a fault is written <point>:<nth>:<action>, optionally with @<milliseconds>", () => {
  assert.deepEqual(parseFault("probe-recorded:2:kill9"), {
    point: "probe-recorded",
    nth: 2,
    action: "kill9",
    afterMs: 0,
  });
  assert.deepEqual(parseFault("probe-recorded:1:delay@50"), {
    point: "probe-recorded",
    nth: 1,
    action: "delay",
    afterMs: 50,
  });
});

for (const text of [
  "",
  "probe-recorded",
  "probe-recorded:0:throw",
  "probe-recorded:1:explode",
  "probe-recorded:1:throw:again",
  ":1:throw",
])
  test(`"${text}" is not a fault`, () => assert.equal(parseFault(text), undefined));

test("throw happens at the nth arrival at its own point, and only then", () => {
  arm("probe-recorded:2:throw");
  faultPoint("probe-sent");
  faultPoint("probe-recorded");
  assert.throws(() => faultPoint("probe-recorded"), InjectedFault);
  assert.equal(faultPoint("probe-recorded"), undefined);
});

test("exec-then-throw lets its own point pass and throws at the next one", () => {
  arm("tool-begun:1:exec-then-throw");
  faultPoint("tool-begun");
  assert.throws(() => faultPoint("tool-ended"), /injected fault at tool-ended/);
  assert.equal(faultPoint("tool-ended"), undefined);
});

test("delay makes the caller wait for the given time", async ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  arm("probe-recorded:1:delay@20");
  let isOver = false;
  const waiting = Promise.resolve(faultPoint("probe-recorded")).then(() => (isOver = true));
  mock.timers.tick(19);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isOver, false);
  mock.timers.tick(1);
  await waiting;
});

test("kill9 ends the process at the point", async () => {
  const module = JSON.stringify(new URL("./fault-point.ts", import.meta.url).href);
  const code = `const { armFaults, faultPoint, parseFault } = await import(${module});
    armFaults(parseFault("probe-recorded:1:kill9")); console.log("before"); await faultPoint("probe-recorded"); console.log("after");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  const signal = await new Promise((resolve) => child.once("close", (_code, by) => resolve(by)));
  assert.equal(signal, "SIGKILL");
  assert.ok(!output.includes("after"));
});
