import { execFile } from "node:child_process";
import { readFile, readlink, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const POLL_MS = 20;
/** What an earlier server is sent, and how long it may take, until it is killed. */
const STEPS: [NodeJS.Signals, number][] = [
  ["SIGINT", 10_000],
  ["SIGQUIT", 5_000],
  ["SIGKILL", 10_000],
];

/** Files in which a server names its process id: of the data folder, and of its socket there. */
const LOCK_FILES = ["postmaster.pid", ".s.PGSQL.5432.lock"];

/**
 * Ends the server that a killed service left on a data folder. After a reboot its process id may belong to another
 * program, which Postgres would take for the old server: then the lock files are removed. In every other case they stay,
 * because Postgres reads in them whether processes of the old server still use its shared memory.
 * The caller holds the lock of the service's data folder.
 *
 * @returns whether a server had to be ended.
 */
export async function endLeftover(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, "postmaster.pid"), "utf8").catch((error) => {
    if (error.code !== "ENOENT") throw error;
    return "";
  });
  const pid = Number.parseInt(text, 10);
  if (await isServerOf(pid, folder)) {
    await endServer(pid, folder);
    return true;
  }
  if (await isAlive(pid)) for (const name of LOCK_FILES) await rm(join(folder, name), { force: true });
  return false;
}

/** Whether a process runs; a killed one whose parent has not read its end does not. */
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
      if (!(await isServerOf(pid, folder))) return;
      await sleep(POLL_MS);
    }
  }
  throw new Error(`process ${pid}, an earlier Postgres on ${folder}, cannot be ended`);
}

/** Whether a process is a Postgres that works in this folder. */
async function isServerOf(pid: number, folder: string): Promise<boolean> {
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
    // There is no such process.
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
