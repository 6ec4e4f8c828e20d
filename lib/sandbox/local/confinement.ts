import { chown, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { withLowPriority } from "#lib/isolation/low-priority.ts";
import type { SandboxUser } from "#lib/isolation/sandbox-users.ts";
import { seccompFilter } from "#lib/isolation/seccomp-filter.ts";
import { type SandboxLimits, withTestLimits } from "../sandbox-limits.ts";
import type { CommandResult } from "../sandbox-service.ts";
import {
  type ArgvCommand,
  type Box,
  boxCommand,
  type Command,
  describeBox,
  type Mount,
  systemPath,
} from "./box.ts";
import { canReadProcessTree } from "./process-tree.ts";
import { type CommandPlan, runCommand } from "./run-command.ts";

/** A way to run commands confined to their folder, or the reason why there is none. */
export type Confinement =
  | {
      works: true;
      detail: string;
      /**
       * The unprivileged user for probes and for sessions without a user of their own; undefined if the service is not
       * root.
       */
      sharedUser: SandboxUser | undefined;
      /** Whether a seccomp filter restricts system calls. */
      isFiltered: boolean;
      plan: (command: Command) => CommandPlan;
      /** Ways to run a test program, which also reads files of the host. The caller uses the first way that works. */
      planTests: ((command: ArgvCommand) => CommandPlan)[];
    }
  | { works: false; reason: string };

/** A user id without privileges that nothing else on the machine uses. Not 65534, because other daemons run as that user. */
const DROPPED_ID = 65_533;
const PROBE_TIMEOUT_MS = 10_000;

/**
 * Checks, by running a probe, whether bubblewrap really confines commands here: it may be installed but fail. If the
 * service is root, privileges are dropped before bubblewrap starts, because bubblewrap would keep capabilities
 * otherwise. If the unprivileged user cannot reach the workspaces, each command gets its workspace mounted at a
 * reachable place, in a mount namespace of its own.
 *
 * @param folder the existing folder of all workspaces; the probe works inside it and cleans up.
 * @param path search path for programs, as in PATH.
 */
export async function probeConfinement(
  folder: string,
  limits: SandboxLimits,
  path: string = systemPath,
): Promise<Confinement> {
  if (process.platform !== "linux") return refuse("commands are confined on Linux only");
  const env = { PATH: path };
  const help = await runProbe({ file: "bwrap", args: ["--help"], env }).catch(() => undefined);
  if (help === undefined) return refuse("bubblewrap (bwrap) is not installed");

  const isRoot = process.getuid?.() === 0;
  const sharedUser = isRoot ? { uid: DROPPED_ID, gid: DROPPED_ID } : undefined;
  const launchers: Launcher[] = isRoot ? [dropThenBox, reachFolderThenBox] : [boxOnly];
  let reason = "bubblewrap (bwrap) does not work here";
  for (const filter of findFilters(help.output)) {
    const box = await describeBox(help.output, limits, filter);
    for (const launcher of launchers) {
      const plan = (command: Command) => launch(launcher, box, command, env);
      const failure = await tryPlan(plan, folder, sharedUser);
      if (failure === undefined) {
        const planTests = await planForTests(help.output, { limits, filter, isRoot, env });
        const detail = await describeLimits(help.output, limits);
        return { works: true, detail, sharedUser, isFiltered: filter !== undefined, plan, planTests };
      }
      reason = `bubblewrap (bwrap) is installed but does not work here: ${failure}`;
    }
  }
  return refuse(reason);
}

/** Lists the filters to try, in order. The last entry is undefined (no filter), because a kernel may lack seccomp. */
function findFilters(help: string): (Uint8Array | undefined)[] {
  const filter = help.includes("--seccomp ") ? seccompFilter() : undefined;
  return filter ? [filter, undefined] : [undefined];
}

/**
 * Returns the ways to run a test program. They use the filter for commands. Chromium works with this filter, because it
 * runs without its own sandbox in a test run.
 */
async function planForTests(
  help: string,
  {
    limits,
    filter,
    isRoot,
    env,
  }: {
    limits: SandboxLimits;
    filter: Uint8Array | undefined;
    isRoot: boolean;
    env: Record<string, string>;
  },
): Promise<((command: ArgvCommand) => CommandPlan)[]> {
  const box = await describeBox(help, withTestLimits(limits), filter);
  const launchers = isRoot ? [reachAllThenBox, dropThenBox] : [boxOnly];
  return launchers.map((launcher) => (command) => launch(launcher, box, command, env));
}

function launch(launcher: Launcher, box: Box, command: Command, env: Record<string, string>): CommandPlan {
  const { argv, inputs } = launcher(box, command);
  const [file = "", ...args] = withLowPriority(argv);
  return { file, args, env, inputs, joinPath: command.joinPath };
}

/** Describes in one line how commands are confined, which limits the kernel enforces, and which are measured. */
async function describeLimits(help: string, limits: SandboxLimits): Promise<string> {
  const size = (bytes: number) => `${Math.round(bytes / 1_048_576)} MiB`;
  const kernel = [
    `${size(limits.memoryBytesMax)} of memory a process`,
    `${limits.processesMax} processes`,
    `${size(limits.commandFileBytesMax)} a file`,
    ...(help.includes("--size ") ? [`${size(limits.temporaryBytesMax)} of /tmp`] : []),
  ];
  const files = `${size(limits.workspaceBytesMax)} and ${limits.workspaceEntriesMax} files of workspace`;
  const measured = (await canReadProcessTree())
    ? `${size(limits.commandMemoryBytesMax)} of memory and ${size(limits.commandWriteBytesMax)} of writes a command, ${files}, removed files that are still open included`
    : `${files}; the memory of a command in all, what it writes, and removed files that are still open are NOT limited here`;
  return `commands confined by bubblewrap, without network; enforced by the kernel: ${kernel.join(", ")}; measured while a command runs: ${measured}`;
}

const refuse = (reason: string): Confinement => ({ works: false, reason });

const runProbe = (plan: CommandPlan): Promise<CommandResult> =>
  runCommand(plan, {
    timeoutMs: PROBE_TIMEOUT_MS,
    signal: new AbortController().signal,
    outputBytesMax: 65_536,
    floodBytesMax: 1_048_576,
  });

/** Starts bubblewrap: a program with its arguments, and the inputs of its descriptors. */
type Launcher = (box: Box, command: Command) => { argv: string[]; inputs: Uint8Array[] };

const boxOnly: Launcher = (box, command) => {
  const { args, inputs } = boxCommand(box, command.folder, command);
  return { argv: ["bwrap", ...args], inputs };
};

function dropPrivileges({ user }: Command): string[] {
  if (!user) throw new Error("a command must have a user if the service is root");
  return ["setpriv", "--reuid", String(user.uid), "--regid", String(user.gid), "--clear-groups"];
}

const dropThenBox: Launcher = (box, command) => {
  const { argv, inputs } = boxOnly(box, command);
  return { argv: [...dropPrivileges(command), ...argv], inputs };
};

/**
 * Creates a launcher for commands that need files or folders of the host that the unprivileged user possibly cannot
 * reach, for example because they are in root's home. So before privileges are dropped, each of them is mounted at a
 * reachable place, in a mount namespace of this command alone.
 */
const mountThenDropThenBox =
  (choose: (command: Command) => readonly Mount[]): Launcher =>
  (box, command) => {
    const mounts = choose(command);
    const mountedAt = (from: string) => mounts.find((mount) => mount.from === from)?.at ?? from;
    const { args, inputs } = boxCommand(box, mountedAt(command.folder), useMountPoints(command, mountedAt));
    return {
      argv: [
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        'while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 125; shift 2; done; shift; exec "$@"',
        "sh",
        ...mounts.flatMap(({ from, at }) => [from, at]),
        "--",
        ...dropPrivileges(command),
        "bwrap",
        ...args,
      ],
      inputs,
    };
  };

/** Replaces the host paths in a command by their mount points. */
function useMountPoints(command: Command, mountedAt: (from: string) => string): Command {
  if (!("argv" in command)) return command;
  const { node, shown = [] } = command;
  return {
    ...command,
    node: node === undefined ? undefined : mountedAt(node),
    shown: shown.map(({ from, to }) => ({ from: mountedAt(from), to })),
  };
}

const reachFolderThenBox = mountThenDropThenBox(({ folder }) => [{ from: folder, at: "/tmp" }]);
const reachAllThenBox = mountThenDropThenBox((command) => ("argv" in command ? (command.reach ?? []) : []));

/** Succeeds only inside a sandbox: the workspace is writable, the system is not, and the only network device is loopback. */
const PROBE_SCRIPT = [
  "touch probe",
  "! test -e /etc/shadow",
  '! touch /usr/probe 2>/dev/null && test "$(grep -c : /proc/net/dev)" = 1',
  "echo confined",
].join(" && ");

/** Runs the probe script in a temporary folder. @returns why it failed, or undefined if it succeeded. */
async function tryPlan(
  plan: (command: Command) => CommandPlan,
  folder: string,
  user: SandboxUser | undefined,
): Promise<string | undefined> {
  const probe = join(folder, `.probe-${process.pid}`);
  await mkdir(probe, { recursive: true, mode: 0o700 });
  try {
    if (user) await chown(probe, user.uid, user.gid);
    const place = { folder: probe, cpuSeconds: 10, user, joinPath: undefined };
    const { exitCode, output } = await runProbe(plan({ ...place, names: [], command: PROBE_SCRIPT }));
    return exitCode === 0 && output.trim() === "confined" ? undefined : `the probe said "${output.trim()}"`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}
