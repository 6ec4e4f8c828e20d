import type { FaultCase } from "./fault-case.ts";
import { findViolations } from "./invariants/index.ts";
import { openWorld } from "./open-world.ts";
import type { Oracle } from "./oracle/start-oracle.ts";
import { createRandom } from "./random.ts";

/** How one run of a case came out. */
export type CaseRun = { name: string; seed: number; violations: string[]; seconds: number };

/** Where cases are played: the oracle, and the database server where there is one. */
export type Place = {
  oracle: Oracle;
  makeDatabase?: (() => Promise<string>) | undefined;
  restartDatabase?: (() => Promise<void>) | undefined;
  /** Fires when the campaign is told to end: what runs is ended, and counts as broken off. */
  signal?: AbortSignal | undefined;
};

const RUN_MAX_MS = 420_000;

/** Plays a case once, with everything that it decides by chance decided by the seed, and checks every invariant. */
export async function runCase(fault: FaultCase, seed: number, place: Place): Promise<CaseRun> {
  const startedAt = performance.now();
  const world = await openWorld({ ...place, random: createRandom(seed, fault.name) });
  const violations: string[] = [];
  const play = async () => {
    await fault.play(world);
    const evidence = await world.readEvidence();
    violations.push(...findViolations(evidence), ...(fault.findViolations?.(evidence) ?? []));
  };
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not over after ${RUN_MAX_MS / 1_000} s`)), RUN_MAX_MS);
    place.signal?.addEventListener("abort", () => reject(new Error("the campaign was told to end")), {
      once: true,
    });
  });
  try {
    await Promise.race([play(), tooLong]);
  } catch (error) {
    violations.push(`the run broke off: ${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    clearTimeout(timer);
    violations.unshift(...world.problems);
    await world.close();
  }
  return { name: fault.name, seed, violations, seconds: (performance.now() - startedAt) / 1_000 };
}
