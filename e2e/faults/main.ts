import { CASES } from "./cases/index.ts";
import type { FaultCase } from "./fault-case.ts";
import { formatTable } from "./format-table.ts";
import { runNeighbours } from "./neighbour/run-neighbours.ts";
import { openDatabases } from "./open-databases.ts";
import { pullPlugs } from "./plug/pull-plugs.ts";
import { type CampaignOptions, readOptions } from "./read-options.ts";
import { startRecorder } from "./recorder/start-recorder.ts";
import { type CaseRun, runCase } from "./run-case.ts";

// npm run faults -- plug [--rounds N] [--seed N]
// npm run faults -- neighbour [--only script-reads,docs] [--turns N] [--verbose]
// npm run faults [-- --seed N --seeds N --only K07,browser --database embedded|postgres|<url> --at-once N]

/** Programs of their own, by the first argument. */
const PROGRAMS = new Map([
  ["plug", pullPlugs],
  ["neighbour", runNeighbours],
]);

type PlannedRun = { fault: FaultCase; seed: number };

/** Plans the runs of the selected cases. All seeds of a case come before the next case. */
function planRuns({ only, seed, seeds, database }: CampaignOptions): PlannedRun[] {
  const engine = database === "embedded" ? "embedded" : "server";
  return CASES.filter(
    ({ name, group, onlyOn }) =>
      (only.length === 0 || only.includes(name) || only.includes(group)) &&
      (onlyOn === undefined || onlyOn === engine),
  ).flatMap((fault) =>
    Array.from({ length: Math.min(seeds, fault.seedsMax ?? seeds) }, (_, nth) => ({
      fault,
      seed: seed + nth,
    })),
  );
}

/** Plays the campaign. @returns true if no run had a violation. */
async function runCampaign(options: CampaignOptions): Promise<boolean> {
  const planned = planRuns(options);
  if (planned.length === 0) throw new Error("--only: the selected cases need another --database");
  const server = await openDatabases(options.database);
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort());
  const total = planned.length;
  const runs: CaseRun[] = [];

  /**
   * Plays the runs of the queue one after the other, until the queue is empty. Starts a recorder for them: a process
   * with the scripted model, the callback receiver and the tool server.
   */
  async function work(queue: PlannedRun[]): Promise<void> {
    if (queue.length === 0) return;
    const recorder = await startRecorder();
    try {
      for (let next = queue.shift(); next && !ending.signal.aborted; next = queue.shift()) {
        const { databases, restart } = server ?? {};
        const run = await runCase(next.fault, next.seed, {
          recorder,
          databases,
          restartDatabase: restart,
          signal: ending.signal,
        });
        runs.push(run);
        report(run, `${runs.length}/${total}`);
      }
    } finally {
      await recorder.close();
    }
  }

  const startedAt = performance.now();
  try {
    const concurrent = planned.filter(({ fault }) => !fault.runsAlone);
    await Promise.all(Array.from({ length: options.atOnce }, () => work(concurrent)));
    await work(planned.filter(({ fault }) => fault.runsAlone));
  } finally {
    await server?.stop();
  }
  conclude(options, runs, (performance.now() - startedAt) / 60_000);
  return runs.every(({ violations }) => violations.length === 0);
}

function report(run: CaseRun, place: string): void {
  const verdict = run.violations.length === 0 ? "ok" : "VIOLATIONS";
  console.log(`[${place}] ${run.name} seed ${run.seed}: ${verdict} (${run.seconds.toFixed(1)} s)`);
  for (const violation of run.violations) console.log(`    ${violation}`);
  if (run.logPath !== undefined) console.log(`    the service's own log: ${run.logPath}`);
}

/** Prints the table of cases and the totals. */
function conclude({ database, seed, seeds }: CampaignOptions, runs: CaseRun[], minutes: number): void {
  const engine = database === "embedded" ? "the embedded Postgres" : "a Postgres server";
  const seedNames = seeds === 1 ? `seed ${seed}` : `seeds ${seed} to ${seed + seeds - 1}`;
  console.log(`\nThe fault campaign on ${engine}, ${seedNames}\n\n${formatTable(runs, CASES)}\n`);
  const failed = runs.filter(({ violations }) => violations.length > 0).length;
  console.log(`\n${runs.length} runs in ${minutes.toFixed(1)} min, ${failed} with violations`);
}

try {
  const [first, ...rest] = process.argv.slice(2);
  const program = PROGRAMS.get(first ?? "");
  const hasPassed = program
    ? await program(rest)
    : await runCampaign(readOptions(process.argv.slice(2), CASES));
  process.exitCode = hasPassed ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
