import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, test } from "node:test";
import { SERVICE_PROGRAM } from "./build-service.mjs";

// The source of a fake service, which prints the signals that it receives. Each test writes it to a temporary folder,
// at the path of the real service.
const service = `
  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => { console.log(signal); process.exit(3); });
  process.on("disconnect", () => { console.log("alone"); process.exit(0); });
  setInterval(() => {}, 1000);
  console.log("pid " + process.pid);`;

let folder = "";
let runner: ChildProcess;
let lines: AsyncIterator<string>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "serve-"));
  mkdirSync(dirname(join(folder, SERVICE_PROGRAM)), { recursive: true });
  writeFileSync(join(folder, SERVICE_PROGRAM), service);
  const serve = JSON.stringify(new URL("./serve.mjs", import.meta.url).href);
  const script = `const { serve } = await import(${serve}); process.exitCode = await serve(process.execPath, "production");`;
  runner = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  assert.ok(runner.stdout);
  lines = createInterface(runner.stdout)[Symbol.asyncIterator]();
});
afterEach(() => {
  runner.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function nextLine(): Promise<string> {
  return String((await lines.next()).value);
}

describe("the running service", () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    test(`receives ${signal} from the runner, which exits with the service's exit code`, async () => {
      assert.match(await nextLine(), /^pid \d+$/);
      const exited = once(runner, "exit");
      runner.kill(signal);
      assert.equal(await nextLine(), signal);
      assert.deepEqual(await exited, [3, null]);
    });
  }

  test("notices that the runner was killed and exits", async () => {
    assert.match(await nextLine(), /^pid \d+$/);
    runner.kill("SIGKILL");
    assert.equal(await nextLine(), "alone");
  });
});
