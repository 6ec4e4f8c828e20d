/** Step 6 of `npm run bench`: runs the measurements of `e2e/bench` on the current build. */
import { SERVICE_PROGRAM } from "./build-service.mjs";
import { runCommand } from "./command.mjs";

/**
 * @param {string} node executable of Node 24
 * @param {string[]} args options for the bench
 * @param {import("./command.mjs").Environment} env additional environment variables
 * @returns {Promise<number>} the exit code
 */
export async function runBench(node, args, env) {
  // With `--profile`, the bench runs the source files instead of the built service, because a profile assigns costs to
  // packages and source files, which the bundle no longer tells apart.
  const program = args.includes("--profile") ? {} : { SERVICE_PROGRAM };
  const result = await runCommand(
    node,
    ["--disable-warning=ExperimentalWarning", "e2e/bench/main.ts", "--built", ...args],
    { inherit: true, env: { ...env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1", ...program } },
  );
  return result.ok ? 0 : 1;
}
