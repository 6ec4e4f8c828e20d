import { CASES } from "./cases/index.ts";
import type { FaultCase } from "./fault-case.ts";
import { formatTable } from "./format-table.ts";
import { openDatabases } from "./open-databases.ts";
import { startOracle } from "./oracle/start-oracle.ts";
import { pullPlugs } from "./plug.ts";
import { type CampaignOptions, readOptions } from "./read-options.ts";
import { type CaseRun, runCase } from "./run-case.ts";

// npm run faults -- plug [--rounds N] [--seed N]
// npm run faults [-- --seed N --seeds N --only K07,browser --database embedded|postgres|<url> --at-once N]

type Turn = { fault: FaultCase; seed: number };

/** The runs that were asked for, in their order: all seeds of a fault behind one another. */
function planTurns({ only, seed, seeds, database }: CampaignOptions): Turn[] {
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

/** Plays the campaign. @returns whether every promise held. */
async function runCampaign(options: CampaignOptions): Promise<boolean> {
  const server = await openDatabases(options.database);
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort());
  const turns = planTurns(options);
  const total = turns.length;
  const runs: CaseRun[] = [];

  /** Plays what is left, one run after the other, with an oracle of its own. */
  async function work(left: Turn[]): Promise<void> {
    if (left.length === 0) return;
    const oracle = await startOracle();
    try {
      for (let turn = left.shift(); turn && !ending.signal.aborted; turn = left.shift()) {
        const { databases, restart } = server ?? {};
        const run = await runCase(turn.fault, turn.seed, {
          oracle,
          databases,
          restartDatabase: restart,
          signal: ending.signal,
        });
        runs.push(run);
        report(run, `${runs.length}/${total}`);
      }
    } finally {
      await oracle.close();
    }
  }

  const startedAt = performance.now();
  try {
    const together = turns.filter(({ fault }) => !fault.needsAll);
    await Promise.all(Array.from({ length: options.atOnce }, () => work(together)));
    await work(turns.filter(({ fault }) => fault.needsAll));
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

/** Prints the table, what is missing, and the sum of it. */
function conclude({ database, seed, seeds }: CampaignOptions, runs: CaseRun[], minutes: number): void {
  const engine = database === "embedded" ? "the embedded Postgres" : "a Postgres server";
  const seedNames = seeds === 1 ? `seed ${seed}` : `seeds ${seed} to ${seed + seeds - 1}`;
  console.log(`\nThe fault campaign on ${engine}, ${seedNames}\n\n${formatTable(runs, CASES)}\n`);
  const failed = runs.filter(({ violations }) => violations.length > 0).length;
  console.log(`\n${runs.length} runs in ${minutes.toFixed(1)} min, ${failed} with violations`);
}

try {
  const [first, ...rest] = process.argv.slice(2);
  const isWhole =
    first === "plug" ? await pullPlugs(rest) : await runCampaign(readOptions(process.argv.slice(2), CASES));
  process.exitCode = isWhole ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
