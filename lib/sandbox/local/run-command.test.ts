import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runCommand } from "./run-command.ts";

const PLAN = { file: "/bin/sh", env: { PATH: process.env.PATH ?? "" } };
const LIMITS = {
  timeoutMs: 60_000,
  signal: new AbortController().signal,
  outputBytesMax: 1_000,
  floodBytesMax: 1_000_000,
};
const run = (script: string, limits: Partial<Parameters<typeof runCommand>[1]>) =>
  runCommand({ ...PLAN, args: ["-c", script] }, { ...LIMITS, ...limits });

/** Blocks this process until the process has ended, so that Node cannot notice the end. */
function waitUnnoticed(pid: number): void {
  while (!/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8")));
}

test("a command that ends just before the service would end it has ended by itself", {
  skip: process.platform !== "linux" && "needs /proc",
}, async () => {
  const check = async (pid: number) => {
    waitUnnoticed(pid);
    return "ended: too much";
  };
  const { exitCode, signal, output } = await run("echo done", { watches: [{ everyMs: 0, check }] });
  assert.deepEqual([exitCode, signal, output], [0, null, "done\n"]);
});

test("a command is ended for one reason, the first one", async () => {
  const watch = (reason: string) => ({ everyMs: 0, check: async () => reason });
  const watches = [watch("ended: first"), watch("ended: second")];
  const { signal, output, timedOut } = await run("sleep 300", { watches, timeoutMs: 60_000 });
  assert.deepEqual([signal, output, timedOut], ["SIGKILL", "[ended: first]", false]);
});

test("the launcher's own errors are kept up to 4 KiB", async () => {
  const failed = run("head -c 100000 /dev/zero | tr '\\0' x >&2; echo end >&2; exit 1", {});
  await assert.rejects(failed, ({ message }: Error) => {
    assert.ok(message.startsWith("the command could not be started: xxx") && message.endsWith("end"));
    return message.length < 4_400;
  });
});
