/** The work of `npm run faults`: runs the fault campaign, which injects faults and checks invariants. */
import { SERVICE_PROGRAM } from "./build-service.mjs";
import { runCommand } from "./command.mjs";

/**
 * Runs the fault campaign in `e2e/faults`.
 * @param {string} node executable of Node 24
 * @param {string[]} args options for the campaign
 * @param {import("./command.mjs").Environment} env variables in addition to this process's own
 * @returns {Promise<number>} the exit code: 1 if an invariant was violated
 */
export async function runFaults(node, args, env) {
  const result = await runCommand(
    node,
    ["--disable-warning=ExperimentalWarning", "e2e/faults/main.ts", ...args],
    { inherit: true, env: { ...env, SERVICE_PROGRAM } },
  );
  return result.exitCode;
}
