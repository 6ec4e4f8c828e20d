import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findFreePort } from "#e2e/fixtures/service.ts";

const run = promisify(execFile);
const main = fileURLToPath(new URL("./main.ts", import.meta.url));

/** Code that makes the import of Next fail, as in a broken build. */
const withoutNext = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === "next") throw new Error("the pages are not built");
      return next(specifier, context);
    },
  });`)}`;

/** Starts a service that is expected to fail, and collects its output until it has ended. */
async function startAndFail(variables: Record<string, string>, args: string[] = []) {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args, main], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_ENV: "production",
      LOG_LEVEL: "warn",
      PORT: String(await findFreePort()),
      SANDBOX: "none",
      ...variables,
    },
  });
  const [[code], output, errors] = await Promise.all([
    once(child, "exit"),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, output, errors };
}

/** Creates a folder for one test. With mount options, the folder is a new file system. */
async function makeFolder(t: TestContext, mountOptions?: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "start-service-"));
  if (mountOptions) await run("mount", ["-t", "tmpfs", "-o", mountOptions, "tmpfs", folder]);
  t.after(async () => {
    if (mountOptions) await run("umount", ["-l", folder]);
    // Retry, because the Postgres of a failed service ends shortly after the service.
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });
  return folder;
}

test("a service whose pages cannot be loaded does not report that it is ready", async (t) => {
  const dataDir = await makeFolder(t);
  const { code, output, errors } = await startAndFail({ DATA_DIR: dataDir }, ["--import", withoutNext]);
  assert.doesNotMatch(output, /ready/);
  assert.match(errors, /The service could not start\. the pages are not built/);
  assert.equal(code, 1);
});

test("a start on a full disk explains itself in one sentence, and succeeds once there is room", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("mounting a small file system needs root");
  // With the file `filling`, the file system is too full for the check at the start. Without the file, it has enough
  // space for this check, but not for a database.
  const folder = await makeFolder(t, "size=24m");
  for (const fill of [true, false]) {
    if (fill) await writeFile(join(folder, "filling"), Buffer.alloc(20 * 2 ** 20));
    const { code, errors } = await startAndFail({ DATA_DIR: folder });
    assert.equal(code, 1);
    assert.match(
      errors.trim(),
      /^The service could not start\. DATA_DIR: \S+ is on a full disk \(\d+ MiB free\); make room there, or name another folder$/,
    );
    await rm(join(folder, "filling"), { force: true });
  }
  await run("mount", ["-o", "remount,size=256m", folder]);
  const { output, errors } = await startAndFail({ DATA_DIR: folder }, ["--import", withoutNext]);
  assert.match(errors, /the pages are not built/, output);
});

test("a start with a folder or program that does not exist, or is of the wrong kind, names the setting", async (t) => {
  const folder = await makeFolder(t);
  const file = join(folder, "file");
  await writeFile(file, "");
  for (const [name, path, problem] of [
    ["SKILLS_DIR", join(folder, "missing"), "does not exist"],
    ["SKILLS_DIR", file, "is not a folder"],
    ["BROWSER_EXECUTABLE_PATH", join(folder, "missing"), "does not exist"],
    ["BROWSER_EXECUTABLE_PATH", folder, "is not a file"],
    ["BROWSER_EXECUTABLE_PATH", file, "may not be run (EACCES)"],
  ] as const) {
    const { code, errors } = await startAndFail({ DATA_DIR: join(folder, "data"), [name]: path });
    assert.equal(code, 78);
    assert.equal(errors.trim(), `The service could not start. ${name}: ${path} ${problem}`);
  }
});

test("a start on a read-only folder explains itself in one sentence", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("mounting a small file system needs root");
  const folder = await makeFolder(t, "size=1m,ro");
  for (const path of [folder, join(folder, "inside")]) {
    const { code, errors } = await startAndFail({ DATA_DIR: path });
    assert.equal(code, 1);
    assert.match(
      errors.trim(),
      /^The service could not start\. DATA_DIR: \S+ cannot be written \(EROFS\)[^.]*$/,
    );
  }
});
