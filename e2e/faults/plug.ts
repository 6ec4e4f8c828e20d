import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import { type CreatedSession, type RunningService, startService } from "../fixtures/service.ts";
import { createRandom, type Random } from "./world/random.ts";

// npm run faults -- plug [--rounds N] [--seed N]
// Simulates a power failure under a running service. An ioctl shuts down an ext4 file system on a loop device without a
// flush. After the next mount, the file system contains only the data that was on the disk before the shutdown.

const run = promisify(execFile);
const DISK_BYTES = 1_500 * 1024 * 1024;
const CLIENTS = 8;
const LOAD_MS = [3_000, 8_000] as const;
const SETTLE_MAX_MS = 120_000;

/**
 * A Perl script that calls the ioctl FS_IOC_SHUTDOWN with FS_SHUTDOWN_FLAGS_NOLOGFLUSH. Node cannot call an ioctl, and
 * every Debian has Perl.
 */
const SHUTDOWN =
  'open(F, "<", $ARGV[0]) or die $!; my $flags = pack("L", 2); ioctl(F, 0x8004587d, $flags) or die $!';

/** Creates a file system in an image file, and mounts it. */
async function createDisk() {
  const folder = await mkdtemp(join(tmpdir(), "faults-plug-"));
  const image = join(folder, "disk.img");
  const mountPoint = join(folder, "mounted");
  await writeFile(image, "");
  await truncate(image, DISK_BYTES);
  await mkdir(mountPoint);
  await run("mkfs.ext4", ["-q", "-F", image]);
  const mount = async () => {
    await run("mount", ["-o", "loop", image, mountPoint]);
  };
  const unmount = async () => {
    // Unmounting is retried, because a process that was just killed may still have files open.
    for (let tries = 0; ; tries++) {
      try {
        return await run("umount", [mountPoint]).then(() => undefined);
      } catch (error) {
        if (tries === 100) throw error;
        await sleep(100);
      }
    }
  };
  await mount();
  return {
    dataDir: join(mountPoint, "data"),
    mount,
    unmount,
    pullPlug: () => run("perl", ["-e", SHUTDOWN, mountPoint]),
    async remove() {
      await unmount();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Load = { sessions: CreatedSession[]; completed: Set<string>; stop: () => Promise<void> };

/** Creates sessions and polls them with several clients at a time. Records what the service acknowledged. */
function startLoad(service: RunningService): Load {
  const sessions: CreatedSession[] = [];
  const completed = new Set<string>();
  let isOver = false;
  const work = async (client: number) => {
    for (let nth = 0; !isOver; nth++) {
      try {
        const created = await service.create(`Say something. (${client}.${nth})`);
        sessions.push(created);
        const { status } = await service.read<{ status: string }>(created.statusUrl);
        if (status === "completed") completed.add(created.runId);
        const earlier = sessions[Math.max(0, sessions.length - 20)];
        if (!earlier) continue;
        const before = await service.read<{ status: string; runId: string }>(earlier.statusUrl);
        if (before.status === "completed") completed.add(before.runId);
      } catch {
        // The service is dead or answers 503, so it has acknowledged nothing.
        await sleep(20);
      }
    }
  };
  const workers = Promise.all(Array.from({ length: CLIENTS }, (_, client) => work(client)));
  return {
    sessions,
    completed,
    async stop() {
      isOver = true;
      await workers;
    },
  };
}

/**
 * Pulls the plug once under load, and starts the service again.
 *
 * @returns a sentence for each loss, and the number of sessions.
 */
async function playRound(modelUrl: string, random: Random): Promise<{ broken: string[]; sessions: number }> {
  const disk = await createDisk();
  const broken: string[] = [];
  let service: RunningService | undefined;
  let load: Load | undefined;
  let databasePid = 0;
  try {
    const variables = { OPENAI_BASE_URL: modelUrl, SANDBOX: "none" };
    service = await startService(variables, { dataDir: disk.dataDir });
    databasePid = await readDatabasePid(disk.dataDir);
    load = startLoad(service);
    await sleep(random.between(...LOAD_MS));
    await disk.pullPlug();
    await service.kill();
    await load.stop();
    killDatabase(databasePid);
    await disk.unmount();
    await disk.mount();
    try {
      service = await startService(variables, { dataDir: disk.dataDir, startWithinMs: 120_000 });
    } catch (error) {
      databasePid = 0;
      return { broken: [`the folder did not open: ${String(error)}`], sessions: load.sessions.length };
    }
    databasePid = await readDatabasePid(disk.dataDir);
    for (const session of load.sessions) {
      const answer = await service.call("GET", session.statusUrl);
      const { status, runId } = (await answer.json()) as { status?: string; runId?: string };
      if (answer.status !== 200) broken.push(`${session.sessionId} is lost (${answer.status})`);
      else if (load.completed.has(session.runId) && status !== "completed")
        broken.push(`${runId} was completed and is ${status}`);
    }
    const deadline = performance.now() + SETTLE_MAX_MS;
    for (const session of load.sessions) {
      while ((await service.read<{ status?: string }>(session.statusUrl)).status !== "completed") {
        if (performance.now() > deadline) {
          broken.push(`${session.sessionId} did not end`);
          break;
        }
        await sleep(50);
      }
    }
    return { broken, sessions: load.sessions.length };
  } finally {
    await service?.kill();
    await load?.stop();
    killDatabase(databasePid);
    await disk.remove();
  }
}

const readDatabasePid = async (dataDir: string): Promise<number> =>
  Number.parseInt(await readFile(join(dataDir, "postgres", "postmaster.pid"), "utf8"), 10);

/** Kills the process group of the embedded Postgres, which outlives the service and keeps files on the disk open. */
function killDatabase(pid: number): void {
  if (pid === 0) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Returns the reason why this machine cannot simulate a power failure; undefined if the machine can. */
async function findObstacle(): Promise<string | undefined> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "only root on Linux can mount a disk";
  for (const program of ["mkfs.ext4", "mount", "losetup", "perl"])
    if (!(await run("sh", ["-c", `command -v ${program}`]).catch(() => undefined)))
      return `${program} is missing`;
  return undefined;
}

/**
 * Plays all rounds. If this machine cannot simulate a power failure, plays none and returns true.
 *
 * @returns true if no round lost acknowledged work.
 */
export async function pullPlugs(args: string[]): Promise<boolean> {
  const { values } = parseArgs({
    args,
    options: { rounds: { type: "string", default: "20" }, seed: { type: "string", default: "1" } },
  });
  const obstacle = await findObstacle();
  if (obstacle !== undefined) {
    console.log(`Skipped: ${obstacle}.`);
    return true;
  }
  const model = await startScriptedModel({ script: { otherwise: { text: "Said." } } });
  const rounds = Number(values.rounds);
  let failed = 0;
  let sessions = 0;
  for (let round = 1; round <= rounds; round++) {
    const result = await playRound(model.baseUrl, createRandom(Number(values.seed) + round, "plug"));
    sessions += result.sessions;
    if (result.broken.length > 0) failed += 1;
    console.log(
      `[${round}/${rounds}] ${result.sessions} sessions: ${result.broken.length === 0 ? "ok" : "LOST"}`,
    );
    for (const sentence of result.broken.slice(0, 10)) console.log(`    ${sentence}`);
  }
  await model.close();
  console.log(`\n${rounds} plugs pulled, ${sessions} sessions acknowledged, ${failed} rounds with losses`);
  return failed === 0;
}
