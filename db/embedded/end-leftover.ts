import { execFile } from "node:child_process";
import { readFile, readlink, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const POLL_MS = 20;
/** The signals to a leftover server, in order, each with the time in milliseconds that the server then gets to exit. */
const STEPS: [NodeJS.Signals, number][] = [
  ["SIGINT", 10_000],
  ["SIGQUIT", 5_000],
  ["SIGKILL", 10_000],
];

/**
 * Lock files that contain the server's process id. The first one locks the data folder, the second one the socket in
 * it.
 */
const LOCK_FILES = ["postmaster.pid", ".s.PGSQL.5432.lock"];

/**
 * Ends the Postgres server that a killed service left running on a data folder. If the process id in the lock files now
 * belongs to another program, the lock files are removed, because Postgres would mistake the program for the old
 * server. Otherwise the lock files stay, because Postgres needs them to detect processes that still use the old shared
 * memory.
 * The caller must hold the lock of the service's data folder.
 *
 * @returns whether a server had to be ended.
 */
export async function endLeftover(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, "postmaster.pid"), "utf8").catch((error) => {
    if (error.code !== "ENOENT") throw error;
    return "";
  });
  const pid = Number.parseInt(text, 10);
  if (await isPostgresOn(pid, folder)) {
    await endServer(pid, folder);
    return true;
  }
  if (await isAlive(pid)) for (const name of LOCK_FILES) await rm(join(folder, name), { force: true });
  return false;
}

/** Whether a process is running. A zombie does not count. */
async function isAlive(pid: number): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return !/\) [ZX] /.test(stat);
}

async function endServer(pid: number, folder: string): Promise<void> {
  for (const [signal, graceMs] of STEPS) {
    signalIfAlive(pid, signal);
    const deadline = performance.now() + graceMs;
    while (performance.now() < deadline) {
      if (!(await isPostgresOn(pid, folder))) return;
      await sleep(POLL_MS);
    }
  }
  throw new Error(`process ${pid}, an earlier Postgres on ${folder}, cannot be ended`);
}

/** Whether a process is a Postgres server on this data folder. */
async function isPostgresOn(pid: number, folder: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 1) return false;
  try {
    if (process.platform === "linux") {
      const command = await readFile(`/proc/${pid}/comm`, "utf8");
      return (
        command.startsWith("postgres") && (await readlink(`/proc/${pid}/cwd`)) === (await realpath(folder))
      );
    }
    const { stdout } = await run("ps", ["-p", String(pid), "-o", "command="]);
    return stdout.includes("postgres") && stdout.includes(folder);
  } catch {
    // The process does not exist, or it belongs to another user and its working directory cannot be read.
    return false;
  }
}

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
