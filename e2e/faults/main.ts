import { Client } from "pg";
import { startTestPostgres } from "#db/postgres-testing.ts";
import { createDatabase } from "#db/testing.ts";
import { CASES, MISSING } from "./cases/index.ts";
import { forgetDataFolders } from "./data-folder.ts";
import { formatTable } from "./format-table.ts";
import { startOracle } from "./oracle/start-oracle.ts";
import { type CampaignOptions, readOptions } from "./read-options.ts";
import { type CaseRun, runCase } from "./run-case.ts";

// npm run faults [-- --seed N --seeds N --only K07,browser --database pglite|postgres|<url>]

/** A database for each run, dropped when it is over. */
function createDatabases(serverUrl: string) {
  let count = 0;
  const name = () => `faults_${process.pid}_${count}`;
  return {
    make() {
      count++;
      return createDatabase(serverUrl, name());
    },
    async drop() {
      const client = new Client({ connectionString: serverUrl });
      await client.connect();
      await client.query(`drop database if exists "${name()}" with (force)`);
      await client.end();
    },
  };
}

/** Plays the campaign. @returns whether every promise held. */
async function runCampaign(options: CampaignOptions): Promise<boolean> {
  const engine = options.database === "pglite" ? "pglite" : "postgres";
  const postgres = options.database === "postgres" ? await startTestPostgres() : undefined;
  const serverUrl = postgres?.url ?? (engine === "postgres" ? options.database : undefined);
  const databases = serverUrl === undefined ? undefined : createDatabases(serverUrl);
  const restartDatabase = postgres && (() => postgres.restart("immediate"));
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort());
  const oracle = await startOracle();
  const chosen = CASES.filter(
    ({ name, group, onlyOn }) =>
      (options.only.length === 0 || options.only.includes(name) || options.only.includes(group)) &&
      (onlyOn === undefined || onlyOn === engine),
  );
  const runs: CaseRun[] = [];
  try {
    for (const [index, fault] of chosen.entries()) {
      for (let nth = 0; nth < Math.min(options.seeds, fault.seedsMax ?? options.seeds); nth++) {
        if (ending.signal.aborted) break;
        const run = await runCase(fault, options.seed + nth, {
          oracle,
          makeDatabase: databases?.make,
          restartDatabase,
          signal: ending.signal,
        });
        await databases?.drop();
        runs.push(run);
        const verdict = run.violations.length === 0 ? "ok" : `${run.violations.length} violations`;
        console.log(
          `[${index + 1}/${chosen.length}] ${fault.name} seed ${run.seed}: ${verdict} (${run.seconds.toFixed(1)} s)`,
        );
        for (const violation of run.violations) console.log(`    ${violation}`);
      }
    }
  } finally {
    await oracle.close();
    await forgetDataFolders();
    await postgres?.stop();
  }
  const titles = new Map(CASES.map(({ name, title }) => [name, title]));
  console.log(`\nThe fault campaign on ${engine}\n\n${formatTable(runs, titles)}`);
  for (const { name, title, reason } of MISSING) console.log(`${name}  ${title}: ${reason}`);
  const violations = runs.reduce((sum, run) => sum + run.violations.length, 0);
  console.log(`\n${runs.length} runs, ${violations} violations`);
  return violations === 0;
}

try {
  process.exitCode = (await runCampaign(readOptions(process.argv.slice(2), CASES))) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
