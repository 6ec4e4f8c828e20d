import { chown, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type SandboxLimits, withTestLimits } from "../sandbox-limits.ts";
import type { CommandResult } from "../sandbox-service.ts";
import { type ArgvCommand, boxArguments, type Command, describeBox, type Mount, systemPath } from "./box.ts";
import { canReadProcessTree } from "./process-tree.ts";
import { type CommandPlan, runCommand } from "./run-command.ts";

/** Whose files a workspace's are, where the service runs as root and its commands must not. */
export type Owner = { uid: number; gid: number };

/** A way to run commands that holds them to their folder, or why there is none. */
export type Confinement =
  | {
      works: true;
      detail: string;
      owner: Owner | undefined;
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
  const help = await launch({ file: "bwrap", args: ["--help"], env }).catch(() => undefined);
  if (help === undefined) return refuse("bubblewrap (bwrap) is not installed");

  const box = await describeBox(help.output, limits);
  const isRoot = process.getuid?.() === 0;
  const owner = isRoot ? { uid: DROPPED_ID, gid: DROPPED_ID } : undefined;
  const candidates: Launcher[] = isRoot ? [dropThenBox, reachFolderThenBox] : [boxOnly];
  let reason = "bubblewrap (bwrap) does not work here";
  for (const launcher of candidates) {
    const plan = (command: Command) => ({ ...launcher(box, command, limits), env });
    const failure = await tryPlan(plan, folder, owner);
    if (failure === undefined) {
      const planTests = await planForTests(help.output, withTestLimits(limits), isRoot, env);
      return { works: true, detail: await describeLimits(help.output, limits), owner, plan, planTests };
    }
    reason = `bubblewrap (bwrap) is installed but does not work here: ${failure}`;
  }
  return refuse(reason);
}

async function planForTests(
  help: string,
  limits: SandboxLimits,
  isRoot: boolean,
  env: Record<string, string>,
): Promise<((command: ArgvCommand) => CommandPlan)[]> {
  const box = await describeBox(help, limits);
  const launchers = isRoot ? [reachAllThenBox, dropThenBox] : [boxOnly];
  return launchers.map((launcher) => (command) => ({ ...launcher(box, command, limits), env }));
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

const launch = (plan: CommandPlan): Promise<CommandResult> =>
  runCommand(plan, {
    timeoutMs: PROBE_TIMEOUT_MS,
    signal: new AbortController().signal,
    outputBytesMax: 65_536,
    floodBytesMax: 1_048_576,
  });

type Launcher = (box: string[], command: Command, limits: SandboxLimits) => Omit<CommandPlan, "env">;

const boxOnly: Launcher = (box, command, limits) => ({
  file: "bwrap",
  args: boxArguments(box, command.folder, command, limits),
});

const DROP_ARGUMENTS = ["--reuid", String(DROPPED_ID), "--regid", String(DROPPED_ID), "--clear-groups"];

const dropThenBox: Launcher = (box, command, limits) => ({
  file: "setpriv",
  args: [...DROP_ARGUMENTS, "bwrap", ...boxArguments(box, command.folder, command, limits)],
});

/**
 * What a command needs may lie where the dropped user cannot go, such as in root's home. Each piece is mounted over an empty
 * place, in a mount namespace of this command alone, before the privileges go.
 */
const mountThenDropThenBox =
  (choose: (command: Command) => readonly Mount[]): Launcher =>
  (box, command, limits) => {
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
        ...DROP_ARGUMENTS,
        "bwrap",
        ...boxArguments(box, within(command.folder), moveInto(command, within), limits),
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
  owner: Owner | undefined,
): Promise<string | undefined> {
  const probe = join(folder, `.probe-${process.pid}`);
  await mkdir(probe, { recursive: true, mode: 0o700 });
  try {
    if (owner) await chown(probe, owner.uid, owner.gid);
    const command = plan({ folder: probe, names: [], command: PROBE_SCRIPT, cpuSeconds: 10 });
    const { exitCode, output } = await launch(command);
    return exitCode === 0 && output.trim() === "confined" ? undefined : `the probe said "${output.trim()}"`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}
