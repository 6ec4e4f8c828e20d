import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { dropConnections } from "./http.ts";
import { measurements } from "./measurements.ts";
import { profileScripts } from "./profile/profile-scripts.ts";
import { profileStart } from "./profile/profile-start.ts";
import { profileTurn } from "./profile/profile-turn.ts";
import { formatLine, formatTable } from "./report.ts";
import { createRig } from "./rig.ts";
import { measureScale } from "./scale/measure-scale.ts";
import type { Row } from "./types.ts";

// npm run bench [-- --only turn-1,memory] [--database postgres://…] [--json file] | --profile turn|start|scripts | --scale
// Every figure is a ratio against something simple that did the same work in the same run, in turns, on the same
// machine. Progress and the figures behind the ratios go to stderr, the table to stdout.

const BUDGET_SECONDS = 600;
/** A measurement that takes this many times what it should hangs. */
const LATE = 3;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    database: { type: "string" },
    json: { type: "string" },
    profile: { type: "string" },
    /** Measures what grows with the size of a service, about 3 minutes. */
    scale: { type: "boolean" },
    /** Given by `npm run bench`: the build is current, so `npm start` starts at once. */
    built: { type: "boolean" },
  },
});
const options = { database: values.database, isBuilt: values.built ?? false };

const say = (text: string) => process.stderr.write(`${text}\n`);

async function within<Value>(seconds: number, work: Promise<Value>): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const giveUp = () => {
    reject(new Error(`took longer than ${seconds} s`));
    work.catch(() => {});
    dropConnections();
  };
  const timer = setTimeout(giveUp, seconds * 1000);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function bench(): Promise<void> {
  const names = values.only?.split(",");
  const unknown = names?.find((name) => !measurements.some((each) => each.name === name));
  if (unknown !== undefined)
    throw new Error(`--only: ${unknown} is none of ${measurements.map(({ name }) => name).join(", ")}`);
  const chosen = measurements.filter(({ name }) => !names || names.includes(name));
  const startedAt = performance.now();
  const secondsLeft = () => BUDGET_SECONDS - (performance.now() - startedAt) / 1000;

  say("Starting the service, the bare loop and the scripted model …");
  const rig = await createRig(options);
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void rig.close().finally(() => process.exit(1)));
  const rows: Row[] = [];
  let failures = 0;
  try {
    for (const { name, seconds, measure } of chosen) {
      if (secondsLeft() < seconds) {
        say(`${name}: left out, as the run has ${Math.max(0, Math.floor(secondsLeft()))} s left`);
        continue;
      }
      say(`${name} …`);
      try {
        const made = await within(seconds * LATE, measure(rig));
        for (const row of made) say(formatLine(row));
        rows.push(...made);
      } catch (error) {
        failures += 1;
        say(`  failed: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  } finally {
    await rig.close();
  }
  const took = Math.round(BUDGET_SECONDS - secondsLeft());
  console.log(`\n${formatTable(rows)}\n`);
  say(`On ${values.database === undefined ? "the embedded Postgres" : "a Postgres server"}, in ${took} s.`);
  if (values.json !== undefined) {
    const report = {
      database: values.database === undefined ? "embedded" : "server",
      node: process.version,
      rows,
    };
    writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
  }
  if (failures > 0) process.exitCode = 1;
}

if (process.platform !== "linux") {
  say("The bench reads the processes' figures from /proc: it runs on Linux.");
  process.exitCode = 1;
} else if (values.scale) {
  const rows = await measureScale(say);
  for (const row of rows) say(formatLine(row));
  console.log(`\n${formatTable(rows)}\n`);
} else if (values.profile !== undefined) {
  if (values.profile === "turn") await profileTurn(options);
  else if (values.profile === "start") await profileStart();
  else if (values.profile === "scripts") await profileScripts(options);
  else throw new Error("--profile: must be turn, start or scripts");
} else await bench();
