import { chown, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxUser } from "#lib/isolation/sandbox-users.ts";
import { seccompFilter } from "#lib/isolation/seccomp-filter.ts";
import { type SandboxLimits, withTestLimits } from "../sandbox-limits.ts";
import type { CommandResult } from "../sandbox-service.ts";
import {
  type ArgvCommand,
  type Box,
  boxArguments,
  boxInputs,
  type Command,
  describeBox,
  type Mount,
  systemPath,
} from "./box.ts";
import { canReadProcessTree } from "./process-tree.ts";
import { type CommandPlan, runCommand } from "./run-command.ts";

/** A way to run commands that holds them to their folder, or why there is none. */
export type Confinement =
  | {
      works: true;
      detail: string;
      /** Who runs what belongs to no session, where the service is root and its commands must not be. */
      sharedUser: SandboxUser | undefined;
      /** Whether the kernel refuses system calls. */
      isFiltered: boolean;
      plan: (command: Command) => CommandPlan;
      /** The ways to run a program that reads further files of the host, of which the first that works is to be used. */
      planTests: ((command: ArgvCommand) => CommandPlan)[];
    }
  | { works: false; reason: string };

/** Not root, and not 65534 either, which other daemons run as: nothing else on the machine has this id. */
const DROPPED_ID = 65_533;
const PROBE_TIMEOUT_MS = 10_000;

/**
 * Finds out whether bubblewrap really confines a command here; it may be installed and fail.
 * As root the privileges are dropped first (bubblewrap would keep capabilities otherwise), and where the dropped user
 * cannot reach the folder, a mount namespace brings it within reach.
 *
 * @param folder an existing folder in which workspaces lie; the probe works inside it and cleans up.
 * @param path where programs are looked for, as in the variable PATH.
 */
export async function probeConfinement(
  folder: string,
  limits: SandboxLimits,
  path: string = systemPath,
): Promise<Confinement> {
  if (process.platform !== "linux") return refuse("commands are confined on Linux only");
  const env = { PATH: path };
  const help = await play({ file: "bwrap", args: ["--help"], env }).catch(() => undefined);
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

/** The filters to try, of which the last one is none: a kernel may be without seccomp. */
function findFilters(help: string): (Uint8Array | undefined)[] {
  const filter = help.includes("--seccomp ") ? seccompFilter() : undefined;
  return filter ? [filter, undefined] : [undefined];
}

/** Chromium runs in the sandbox of a test run without its own, so that the filter for commands fits it, too. */
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
  return { ...launcher(box, command), env, inputs: boxInputs(box, command), joinPath: command.joinPath };
}

/** Says in one line how commands are confined, which limits the kernel enforces, and which are measured. */
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

const play = (plan: CommandPlan): Promise<CommandResult> =>
  runCommand(plan, {
    timeoutMs: PROBE_TIMEOUT_MS,
    signal: new AbortController().signal,
    outputBytesMax: 65_536,
    floodBytesMax: 1_048_576,
  });

type Launcher = (box: Box, command: Command) => Pick<CommandPlan, "file" | "args">;

const boxOnly: Launcher = (box, command) => ({
  file: "bwrap",
  args: boxArguments(box, command.folder, command),
});

function dropArguments({ user }: Command): string[] {
  if (!user) throw new Error("a command of a service that is root has a user");
  return ["--reuid", String(user.uid), "--regid", String(user.gid), "--clear-groups"];
}

const dropThenBox: Launcher = (box, command) => ({
  file: "setpriv",
  args: [...dropArguments(command), "bwrap", ...boxArguments(box, command.folder, command)],
});

/**
 * What a command needs may lie where the dropped user cannot go, such as in root's home. Each piece is mounted over an empty
 * place, in a mount namespace of this command alone, before the privileges go.
 */
const mountThenDropThenBox =
  (choose: (command: Command) => readonly Mount[]): Launcher =>
  (box, command) => {
    const mounts = choose(command);
    const within = (from: string) => mounts.find((mount) => mount.from === from)?.at ?? from;
    return {
      file: "unshare",
      args: [
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        'while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 125; shift 2; done; shift; exec "$@"',
        "sh",
        ...mounts.flatMap(({ from, at }) => [from, at]),
        "--",
        "setpriv",
        ...dropArguments(command),
        "bwrap",
        ...boxArguments(box, within(command.folder), moveInto(command, within)),
      ],
    };
  };

/** A command whose pieces of the host are named by where they are mounted. */
function moveInto(command: Command, within: (from: string) => string): Command {
  if (!("argv" in command)) return command;
  const { node, shown = [] } = command;
  return {
    ...command,
    node: node === undefined ? undefined : within(node),
    shown: shown.map(({ from, to }) => ({ from: within(from), to })),
  };
}

const reachFolderThenBox = mountThenDropThenBox(({ folder }) => [{ from: folder, at: "/tmp" }]);
const reachAllThenBox = mountThenDropThenBox((command) => ("argv" in command ? (command.reach ?? []) : []));

/** True of the inside only: written to the workspace, no network device but loopback, system read-only, a fork. */
const PROBE_SCRIPT = [
  "touch probe",
  "! test -e /etc/shadow",
  '! touch /usr/probe 2>/dev/null && test "$(grep -c : /proc/net/dev)" = 1',
  "echo confined",
].join(" && ");

/** Plays the probe in a folder of its own. @returns why it failed, or undefined when it did not. */
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
    const { exitCode, output } = await play(plan({ ...place, names: [], command: PROBE_SCRIPT }));
    return exitCode === 0 && output.trim() === "confined" ? undefined : `the probe said "${output.trim()}"`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}
