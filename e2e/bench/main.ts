import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createDeadline } from "#lib/time/deadline.ts";
import { dropConnections } from "./http.ts";
import { measurements } from "./measurements.ts";
import { profileScripts } from "./profile/profile-scripts.ts";
import { profileStart } from "./profile/profile-start.ts";
import { profileTurn } from "./profile/profile-turn.ts";
import { combineRuns, formatLine, formatTable } from "./report.ts";
import { createRig } from "./rig.ts";
import { measureScale } from "./scale/measure-scale.ts";
import type { Measurement, Row } from "./types.ts";

// npm run bench [-- --only turn-1,memory] [--runs 5] [--database postgres://…] [--json file]
// npm run bench -- --profile turn|start|scripts, or --scale
// Most results are ratios to a simple baseline. Service and baseline do the same work alternately, in one run on one
// machine. Progress and the measured figures go to stderr, the table goes to stdout.

const BUDGET_SECONDS = 600;
/** A measurement is aborted when it takes this many times its expected duration. */
const TIMEOUT_FACTOR = 3;
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    database: { type: "string" },
    json: { type: "string" },
    /**
     * Number of times that all measurements are played, each time with new processes. The report contains the medians.
     */
    runs: { type: "string", default: "1" },
    profile: { type: "string" },
    /** Measures only how costs grow with the number of sessions and viewers. Takes about 3 minutes. */
    scale: { type: "boolean" },
    /** `npm run bench` sets this option: the build is up to date, so `npm start` does not have to build first. */
    built: { type: "boolean" },
  },
});
const options = { database: values.database, isBuilt: values.built ?? false };

const printProgress = (text: string) => process.stderr.write(`${text}\n`);

async function within<Value>(seconds: number, work: Promise<Value>): Promise<Value> {
  return createDeadline({ ms: seconds * 1_000, lateMessage: `took longer than ${seconds} s` }).race(
    work,
    (reason) => {
      dropConnections();
      throw reason;
    },
  );
}

function chooseMeasurements(): Measurement[] {
  const names = values.only?.split(",");
  const unknown = names?.find((name) => !measurements.some((each) => each.name === name));
  if (unknown !== undefined)
    throw new Error(`--only: ${unknown} is none of ${measurements.map(({ name }) => name).join(", ")}`);
  return measurements.filter(({ name }) => !names || names.includes(name));
}

/**
 * Runs each measurement once, except measurements for which too little time is left. @returns the rows of the table,
 * and how many measurements failed.
 */
async function runOnce(chosen: readonly Measurement[]): Promise<{ rows: Row[]; failures: number }> {
  const startedAt = performance.now();
  const secondsLeft = () => BUDGET_SECONDS - (performance.now() - startedAt) / 1000;
  printProgress("Starting the service, the bare loop and the scripted model …");
  const rig = await createRig(options);
  const end = () => void rig.close().finally(() => process.exit(1));
  for (const signal of SIGNALS) process.once(signal, end);
  const rows: Row[] = [];
  let failures = 0;
  try {
    for (const { name, seconds, measure } of chosen) {
      if (secondsLeft() < seconds) {
        printProgress(
          `${name}: skipped, because the run has ${Math.max(0, Math.floor(secondsLeft()))} s left`,
        );
        continue;
      }
      printProgress(`${name} …`);
      try {
        const measured = await within(seconds * TIMEOUT_FACTOR, measure(rig));
        for (const row of measured) printProgress(formatLine(row));
        rows.push(...measured);
      } catch (error) {
        failures += 1;
        printProgress(`  failed: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
    await rig.close();
  }
  return { rows, failures };
}

async function bench(): Promise<void> {
  const count = Number(values.runs);
  if (!Number.isInteger(count) || count < 1 || count > 20)
    throw new Error("--runs: must be a whole number from 1 to 20");
  const chosen = chooseMeasurements();
  const startedAt = performance.now();
  const runs: { rows: Row[]; failures: number }[] = [];
  for (let number = 1; number <= count; number++) {
    if (count > 1) printProgress(`Run ${number} of ${count}`);
    runs.push(await runOnce(chosen));
  }
  const rows = combineRuns(runs.map((run) => run.rows));
  console.log(`\n${formatTable(rows)}\n`);
  const took = Math.round((performance.now() - startedAt) / 1000);
  printProgress(
    `On ${values.database === undefined ? "the embedded Postgres" : "a Postgres server"}, in ${took} s.`,
  );
  if (values.json !== undefined) {
    const report = {
      database: values.database === undefined ? "embedded" : "server",
      node: process.version,
      runs: count,
      rows,
    };
    writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
  }
  if (runs.some(({ failures }) => failures > 0)) process.exitCode = 1;
}

if (process.platform !== "linux") {
  printProgress("The bench runs only on Linux, because it reads figures of processes from /proc.");
  process.exitCode = 1;
} else if (values.scale) {
  const rows = await measureScale(printProgress);
  for (const row of rows) printProgress(formatLine(row));
  console.log(`\n${formatTable(rows)}\n`);
} else if (values.profile !== undefined) {
  if (values.profile === "turn") await profileTurn(options);
  else if (values.profile === "start") await profileStart();
  else if (values.profile === "scripts") await profileScripts(options);
  else throw new Error("--profile: must be turn, start or scripts");
} else await bench();
