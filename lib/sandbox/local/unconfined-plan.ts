import { join } from "node:path";
import { type ShellCommand, systemPath } from "./box.ts";
import type { CommandPlan } from "./run-command.ts";

/**
 * Plans a command without confinement, for development. The command has all rights of the service's own user, but not
 * the host's environment variables. Source: `wire.md`, Environment, `SANDBOX=unconfined`.
 */
export const unconfinedPlan = ({ folder, names, command, cpuSeconds }: ShellCommand): CommandPlan => ({
  file: "bash",
  args: ["-c", `ulimit -c 0 -t ${cpuSeconds} && exec bash -c "$0" 2>&1`, command],
  cwd: join(folder, ...names),
  env: { PATH: systemPath, HOME: folder, LANG: "C.UTF-8", TERM: "dumb" },
});
