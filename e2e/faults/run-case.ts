import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDeadline } from "#lib/time/deadline.ts";
import type { FaultCase } from "./fault-case.ts";
import { findViolations } from "./invariants/index.ts";
import type { Databases } from "./open-databases.ts";
import type { Recorder } from "./recorder/start-recorder.ts";
import { openWorld } from "./world/open-world.ts";
import { createRandom } from "./world/random.ts";

/** The result of one run of a case. */
export type CaseRun = {
  name: string;
  seed: number;
  violations: string[];
  seconds: number;
  /** Path of the file with the services' output; undefined if there were no violations. */
  logPath: string | undefined;
};

/** What a run uses: the recorder and the database server. Without `databases`, the service uses its embedded database. */
type Place = {
  recorder: Recorder;
  databases?: Databases | undefined;
  restartDatabase?: (() => Promise<void>) | undefined;
  /** Aborts when the campaign receives SIGINT or SIGTERM. The current run then ends with a violation. */
  signal?: AbortSignal | undefined;
};

const RUN_MAX_MS = 420_000;

async function storeLog(name: string, text: string): Promise<string> {
  const folder = join(tmpdir(), "fault-campaign-logs");
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${name}-${process.pid}.log`);
  await writeFile(path, text);
  return path;
}

/** Plays a case once, and checks every invariant. All random choices derive from the seed. */
export async function runCase(fault: FaultCase, seed: number, place: Place): Promise<CaseRun> {
  const startedAt = performance.now();
  const databaseUrl = await place.databases?.create();
  const world = await openWorld({ ...place, databaseUrl, random: createRandom(seed, fault.name) });
  const violations: string[] = [];
  const play = async () => {
    await fault.play(world);
    const evidence = await world.readEvidence();
    violations.push(...findViolations(evidence), ...(fault.findViolations?.(evidence) ?? []));
  };
  const runMaxMs = fault.runMaxMs ?? RUN_MAX_MS;
  const deadline = createDeadline({
    ms: runMaxMs,
    signal: place.signal,
    lateMessage: `not over after ${runMaxMs / 1_000} s`,
    stopMessage: "the campaign was stopped",
  });
  try {
    await deadline.race(play);
  } catch (error) {
    violations.push(`the run broke off: ${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    violations.unshift(...world.problems);
    await world.close();
    if (databaseUrl !== undefined) await place.databases?.drop(databaseUrl);
  }
  const { name } = fault;
  const logPath = violations.length > 0 ? await storeLog(`${name}-${seed}`, world.log()) : undefined;
  return { name, seed, violations, seconds: (performance.now() - startedAt) / 1_000, logPath };
}
