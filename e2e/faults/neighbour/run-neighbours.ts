import { parseArgs } from "node:util";
import type { HostileInput } from "./hostile-input.ts";
import { INPUTS } from "./inputs/index.ts";
import { medianOf } from "./measure-turns.ts";
import { type Measurement, runInput } from "./run-input.ts";
import { MIB } from "./watch-memory.ts";

// npm run faults -- neighbour [--only script-reads,docs] [--turns N] [--verbose]
// A hostile owner works while another owner's turns are measured.

const RATIO_MAX = 2;
const HEALTH_MAX_MS = 1_000;
const MEMORY_MAX_BYTES = 1_024 * MIB;

/** Runs every input, and prints one line for each. @returns true if every input stayed within the limits. */
export async function runNeighbours(args: string[]): Promise<boolean> {
  const { inputs, turns, isVerbose } = readArguments(args);
  const width = Math.max(...inputs.map(({ name }) => name.length));
  console.log(
    `Limits: a turn of another owner ${RATIO_MAX} × its usual time (median of ${turns}), health ${HEALTH_MAX_MS} ms, ${MEMORY_MAX_BYTES / MIB} MiB in one process`,
  );
  let failed = 0;
  for (const input of inputs) {
    const measurement = await runInput(input, turns).catch((error: unknown) => String(error));
    if (typeof measurement === "string") {
      failed += 1;
      console.log(`${input.name.padEnd(width)}  FAILED  could not be measured: ${measurement}`);
      continue;
    }
    const violations = findViolations(measurement);
    if (violations.length > 0) failed += 1;
    console.log(`${input.name.padEnd(width)}  ${writeLine(measurement, violations)}`);
    if (isVerbose) console.log(`    ${input.title}: ${JSON.stringify(measurement.attack)}`);
  }
  console.log(`${inputs.length} inputs, ${failed} failed`);
  return failed === 0;
}

function findViolations({ usualMs, attackedMs, healthMs, peak, problems }: Measurement): string[] {
  const violations = [...problems];
  if (attackedMs.length > 0 && medianOf(attackedMs) > RATIO_MAX * usualMs) violations.push("turns too slow");
  if (healthMs > HEALTH_MAX_MS) violations.push("health too slow");
  if (peak.bytes > MEMORY_MAX_BYTES) violations.push("too much memory");
  return violations;
}

function writeLine({ usualMs, attackedMs, healthMs, peak }: Measurement, violations: string[]): string {
  const median = medianOf(attackedMs);
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
  const ratio = attackedMs.length > 0 ? `${(median / usualMs).toFixed(2)} ×` : "no turn";
  return [
    violations.length === 0 ? "ok    " : "FAILED",
    `turn ${ratio} (${seconds(usualMs)} → ${seconds(median)}, worst ${seconds(Math.max(0, ...attackedMs))})`,
    `health ${Math.round(healthMs)} ms`,
    `memory ${Math.round(peak.bytes / MIB)} MiB (${peak.process})`,
    violations.join("; "),
  ]
    .filter(Boolean)
    .join("  ");
}

/** @throws Error that names the invalid option. */
function readArguments(args: string[]): {
  inputs: readonly HostileInput[];
  turns: number;
  isVerbose: boolean;
} {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string", default: "" },
      turns: { type: "string", default: "5" },
      verbose: { type: "boolean", default: false },
    },
  });
  const only = values.only.split(",").filter(Boolean);
  for (const word of only)
    if (!INPUTS.some(({ name }) => name === word)) throw new Error(`--only: there is no input named ${word}`);
  if (!/^[1-9]\d{0,2}$/.test(values.turns)) throw new Error("--turns: must be a whole number from 1 to 999");
  const inputs = only.length === 0 ? INPUTS : INPUTS.filter(({ name }) => only.includes(name));
  return { inputs, turns: Number(values.turns), isVerbose: values.verbose };
}
