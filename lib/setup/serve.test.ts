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
// at the path of the real service. A file `exit-code` in that folder makes it end before it is ready.
const service = `
  import { existsSync, readFileSync } from "node:fs";
  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => { console.log(signal); process.exit(3); });
  process.on("SIGUSR2", () => process.exit(0));
  process.on("disconnect", () => { console.log("alone"); process.exit(0); });
  if (existsSync("exit-code")) process.exit(Number(readFileSync("exit-code", "utf8")));
  process.send("ready", () => console.log("ready " + process.pid));
  setInterval(() => {}, 1000);`;

let folder = "";
let runner: ChildProcess;
let lines: AsyncIterator<string>;
let notices: AsyncIterator<string>;
let exited: Promise<unknown[]>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "serve-"));
  mkdirSync(dirname(join(folder, SERVICE_PROGRAM)), { recursive: true });
  writeFileSync(join(folder, SERVICE_PROGRAM), service);
});
afterEach(() => {
  runner.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function start(): void {
  const serve = JSON.stringify(new URL("./serve.mjs", import.meta.url).href);
  const script = `const { serve } = await import(${serve}); process.exitCode = await serve(process.execPath, "production");`;
  runner = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  assert.ok(runner.stdout && runner.stderr);
  lines = createInterface(runner.stdout)[Symbol.asyncIterator]();
  notices = createInterface(runner.stderr)[Symbol.asyncIterator]();
  exited = once(runner, "exit");
}

const nextLine = async () => String((await lines.next()).value);
const nextNotice = async () => String((await notices.next()).value);
const exitWith = (code: number) => writeFileSync(join(folder, "exit-code"), String(code));

/** Waits until the service is ready. @returns its process id. */
async function ready(): Promise<number> {
  const line = await nextLine();
  assert.match(line, /^ready \d+$/);
  return Number(line.slice("ready ".length));
}

describe("the running service", () => {
  beforeEach(start);

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    test(`receives ${signal} from the runner, which exits with the service's exit code`, async () => {
      await ready();
      runner.kill(signal);
      assert.equal(await nextLine(), signal);
      assert.deepEqual(await exited, [3, null]);
    });
  }

  test("notices that the runner was killed and exits", async () => {
    await ready();
    runner.kill("SIGKILL");
    assert.equal(await nextLine(), "alone");
  });

  test("is started again after it died, with longer waits, and the runner says why", async () => {
    const first = await ready();
    // Its next start fails, for example because the database is not reachable.
    exitWith(1);
    process.kill(first, "SIGKILL");
    const notice = (reason: string, seconds: number) =>
      `The service ended unexpectedly (${reason}). It is started again in ${seconds} s.`;
    assert.equal(await nextNotice(), notice("killed by SIGKILL", 1));
    assert.equal(await nextNotice(), notice("exit code 1", 2));
    rmSync(join(folder, "exit-code"));
    assert.notEqual(await ready(), first);
    runner.kill("SIGTERM");
    assert.equal(await nextLine(), "SIGTERM");
    assert.deepEqual(await exited, [3, null]);
  });

  test("is not started again if the runner gets a signal during the wait", async () => {
    process.kill(await ready(), "SIGKILL");
    await nextNotice();
    runner.kill("SIGTERM");
    assert.deepEqual(await exited, [143, null]);
  });

  test("is not started again after an orderly end", async () => {
    process.kill(await ready(), "SIGUSR2");
    assert.deepEqual(await exited, [0, null]);
  });

  test("is not started again if a setting is wrong now", async () => {
    const pid = await ready();
    exitWith(78);
    process.kill(pid, "SIGKILL");
    assert.deepEqual(await exited, [78, null]);
  });
});

test("a service that could not start is not started again", async () => {
  exitWith(1);
  start();
  assert.deepEqual(await exited, [1, null]);
});
