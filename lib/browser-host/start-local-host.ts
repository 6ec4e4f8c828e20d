import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { HostStart } from "./host/run-host.ts";

/** A browser host on this machine that this process has started. */
type LocalHost = {
  url: string;
  /** Resolves when the host's process has ended, with the last lines that it has logged. */
  exited: Promise<string>;
};

/** The variables that a host inherits. It runs pages and scripts, so it must not have the service's credentials. */
const INHERITED =
  /^(PATH|HOME|LANG|LC_\w+|TZ|TMPDIR|TEMP|SystemRoot|LD_LIBRARY_PATH|NODE_ENV|NODE_COMPILE_CACHE|MALLOC_ARENA_MAX)$/;

// The cast is needed because Next.js declares NODE_ENV as required.
const inheritedEnvironment = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => INHERITED.test(name)),
  ) as NodeJS.ProcessEnv;

const START_MS_MAX = 30_000;
const LOG_SHOWN = 2_000;

/**
 * Starts a browser host on this machine. It is a process of its own session, so it outlives this process, and Ctrl-C in
 * a terminal does not reach it.
 *
 * @throws Error with the host's output if it does not start in time.
 */
export async function startLocalHost(start: HostStart): Promise<LocalHost> {
  await mkdir(start.dataDir, { recursive: true });
  await removeOldLogs(start.dataDir);
  const logPath = join(start.dataDir, `host-${start.id}.log`);
  const log = openSync(logPath, "w", 0o600);
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", fileURLToPath(new URL("./host-worker.ts", import.meta.url))],
    { stdio: ["pipe", "pipe", log], detached: true, env: inheritedEnvironment() },
  );
  closeSync(log);
  child.stdin?.on("error", () => {});
  child.stdin?.end(JSON.stringify(start));
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const readLog = async () => (await readFile(logPath, "utf8").catch(() => "")).slice(-LOG_SHOWN);
  const port = await readPort(child, exited).catch(async (error: Error) => {
    child.kill("SIGKILL");
    throw new Error(`the browser host did not start: ${error.message} ${await readLog()}`.trim());
  });
  child.unref();
  return {
    url: `ws://127.0.0.1:${port}`,
    exited: exited.then(async () => {
      const text = await readLog();
      await rm(logPath, { force: true });
      return text;
    }),
  };
}

/** Removes the logs of earlier hosts. The log of a host stays if the process that started it has ended before the host. */
async function removeOldLogs(dataDir: string): Promise<void> {
  const old = (await readdir(dataDir)).filter((name) => /^host-bh_[\w-]+\.log$/.test(name));
  await Promise.all(old.map((name) => rm(join(dataDir, name), { force: true })));
}

/** Reads the first line of the host's output, which names its port. */
async function readPort(child: ChildProcess, exited: Promise<void>): Promise<number> {
  const { stdout } = child;
  if (!stdout) throw new Error("it has no output");
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const timer = setTimeout(() => reject(new Error(`not within ${START_MS_MAX / 1_000} s.`)), START_MS_MAX);
  child.once("error", reject);
  void exited.then(() => reject(new Error("its process ended.")));
  createInterface({ input: stdout }).once("line", (line) =>
    resolve((JSON.parse(line) as { port: number }).port),
  );
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    stdout.destroy();
  }
}
