import { join } from "node:path";
import { withLowPriority } from "#lib/isolation/low-priority.ts";
import { FAIL_WRITES, type ShellCommand, systemPath } from "./box.ts";
import type { CommandPlan } from "./run-command.ts";

/**
 * Plans a command without confinement, for development. The command has all rights of the service's own user, but not
 * the host's environment variables. Source: `configuration.md`, Variables, `SANDBOX=unconfined`.
 */
export function unconfinedPlan({
  folder,
  names,
  command,
  cpuSeconds,
  isRemovalOnly,
}: ShellCommand): CommandPlan {
  const limits = isRemovalOnly ? `${FAIL_WRITES}; ulimit -c 0 -f 0` : "ulimit -c 0";
  const script = `${limits} -t ${cpuSeconds} && exec bash -c "$0" 2>&1`;
  const [file = "", ...args] = withLowPriority(["bash", "-c", script, command]);
  return {
    file,
    args,
    cwd: join(folder, ...names),
    env: { PATH: systemPath, HOME: folder, LANG: "C.UTF-8", TERM: "dumb" },
  };
}
