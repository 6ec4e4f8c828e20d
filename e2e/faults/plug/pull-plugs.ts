import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startScriptedModel } from "../../fixtures/scripted-model/start-scripted-model.ts";
import { type CreatedSession, type RunningService, startService } from "../../fixtures/service.ts";
import { createRandom, type Random } from "../world/random.ts";
import { createDisk, findObstacle } from "./create-disk.ts";
import { answerWork, findLostFiles, taskOf } from "./plug-work.ts";

// npm run faults -- plug [--rounds N] [--seed N]
// Simulates a power failure under a running service whose agents write files and take pictures. An ioctl shuts down the
// file system of the data folder without a flush. After the restart, nothing may be lost that the service acknowledged:
// no session, no completed turn, and no file whose write is in the transcript.

const CLIENTS = 8;
const LOAD_MS = [3_000, 8_000] as const;
const SETTLE_MAX_MS = 180_000;
/** Number of sessions of a round that are continued after the restart. */
const CONTINUED = 5;

type WorkSession = CreatedSession & { task: string };
type Load = { sessions: WorkSession[]; completed: Set<string>; stop: () => Promise<void> };

/** Creates sessions and polls them with several clients at a time. Records what the service acknowledged. */
function startLoad(service: RunningService): Load {
  const sessions: WorkSession[] = [];
  const completed = new Set<string>();
  let isOver = false;
  const work = async (client: number) => {
    for (let nth = 0; !isOver; nth++) {
      try {
        const task = taskOf(client, nth);
        const created = { ...(await service.create(task)), task };
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

/** The result of a round: a sentence for each loss, and what was checked. */
type Round = { broken: string[]; sessions: number; files: number };

/** Pulls the plug once under load, and starts the service again. */
async function playRound(modelUrl: string, random: Random): Promise<Round> {
  const disk = await createDisk();
  let service: RunningService | undefined;
  let load: Load | undefined;
  let databasePid = 0;
  try {
    const variables = { OPENAI_BASE_URL: modelUrl };
    service = await startService(variables, { dataDir: disk.dataDir });
    databasePid = await readDatabasePid(disk.dataDir);
    load = startLoad(service);
    await sleep(random.between(...LOAD_MS));
    await disk.pullPlug();
    await service.kill();
    await load.stop();
    killDatabase(databasePid);
    databasePid = 0;
    await disk.unmount();
    await disk.mount();
    try {
      service = await startService(variables, { dataDir: disk.dataDir, startWithinMs: 120_000 });
    } catch (error) {
      const sentence = `the folder did not open: ${String(error)}`;
      return { broken: [sentence], sessions: load.sessions.length, files: 0 };
    }
    databasePid = await readDatabasePid(disk.dataDir);
    return await findLosses(service, load);
  } finally {
    await service?.kill();
    await load?.stop();
    killDatabase(databasePid);
    await disk.remove();
  }
}

/** Checks after the restart what the service acknowledged before it, and that its sessions can go on. */
async function findLosses(service: RunningService, { sessions, completed }: Load): Promise<Round> {
  const broken: string[] = [];
  const isStored = async ({ sessionId, runId, statusUrl }: WorkSession): Promise<boolean> => {
    const answer = await service.call("GET", statusUrl);
    const { status } = (await answer.json()) as { status?: string };
    if (answer.status !== 200) broken.push(`${sessionId} is lost (${answer.status})`);
    else if (completed.has(runId) && status !== "completed")
      broken.push(`${runId} was completed and is ${status}`);
    return answer.status === 200;
  };
  const stored: WorkSession[] = [];
  for (const session of sessions) if (await isStored(session)) stored.push(session);

  const deadline = performance.now() + SETTLE_MAX_MS;
  const hasEnded = async (statusUrl: string): Promise<boolean> => {
    for (;;) {
      const { status } = await service.read<{ status?: string }>(statusUrl);
      if (status === "completed") return true;
      if (status === "errored" || performance.now() > deadline) return false;
      await sleep(50);
    }
  };
  let files = 0;
  for (const session of stored) {
    if (!(await hasEnded(session.statusUrl))) broken.push(`${session.sessionId} did not complete its turn`);
    const { lost, checked } = await findLostFiles(service, session, session.task);
    broken.push(...lost);
    files += checked;
  }
  for (const { sessionId } of stored.slice(-CONTINUED)) {
    const path = `/api/sessions/${sessionId}/agent/messages`;
    const answer = await service.call("POST", path, { text: "Go on." });
    const { statusUrl } = (await answer.json()) as { statusUrl?: string };
    if (!statusUrl || !(await hasEnded(statusUrl)))
      broken.push(`${sessionId} did not go on (${answer.status})`);
  }
  return { broken, sessions: sessions.length, files };
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
  const model = await startScriptedModel();
  model.respondWith(answerWork);
  const rounds = Number(values.rounds);
  let failed = 0;
  let sessions = 0;
  let files = 0;
  for (let round = 1; round <= rounds; round++) {
    const result = await playRound(model.baseUrl, createRandom(Number(values.seed) + round, "plug"));
    sessions += result.sessions;
    files += result.files;
    if (result.broken.length > 0) failed += 1;
    console.log(
      `[${round}/${rounds}] ${result.sessions} sessions, ${result.files} files: ${result.broken.length === 0 ? "ok" : `LOST (${result.broken.length})`}`,
    );
    for (const sentence of result.broken.slice(0, 10)) console.log(`    ${sentence}`);
  }
  await model.close();
  console.log(
    `\n${rounds} plugs pulled, ${sessions} sessions acknowledged, ${files} files checked, ${failed} rounds with losses`,
  );
  return failed === 0;
}
