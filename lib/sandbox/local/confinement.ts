import { chown, lstat, mkdir, readlink, rm } from "node:fs/promises";
import { join } from "node:path";
import { type SandboxLimits, withTestLimits } from "../sandbox-limits.ts";
import type { CommandResult } from "../sandbox-service.ts";
import { canReadProcessTree } from "./process-tree.ts";
import { type CommandPlan, runCommand } from "./run-command.ts";

/** Whose files a workspace's are, where the service runs as root and its commands must not. */
export type Owner = { uid: number; gid: number };

/** A command for a workspace's folder: `names` lead from its root to where it starts. */
export type ShellCommand = { folder: string; names: string[]; command: string; cpuSeconds: number };

/** A program for a workspace's folder, by argument array. */
export type ArgvCommand = {
  folder: string;
  names: string[];
  argv: readonly string[];
  cpuSeconds: number;
  /** Where the launcher writes what it reads from its descriptors 3, 4 and so on; read-only for the program. */
  files: readonly string[];
  /** The service's own Node, bound at {@link SERVICE_NODE}. */
  node?: string | undefined;
  /** Further files and folders of the host, shown read-only. */
  shown?: readonly { from: string; to: string }[];
  /** Empty files and folders, each to mount a piece of the host over that the program reads. */
  reach?: readonly { from: string; at: string }[];
  /** Chromium reserves far more address space than it uses, so that it cannot be limited. */
  hasUnlimitedAddressSpace?: boolean;
};

type Command = ShellCommand | ArgvCommand;

/** Where a program finds the service's own Node, if the sandbox has no other. */
export const SERVICE_NODE = "/opt/service/node";

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
/** Where programs are looked for; the host's own PATH is not handed on. */
export const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** What commands may read of the host beside /usr: no names, no keys, only what programs need to start. */
const READABLE_OF_ETC = [
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "alternatives",
  "ssl/certs",
  "localtime",
  "fonts",
];
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
  const candidates: Launcher[] = isRoot ? [dropThenBox, reachThenDropThenBox] : [boxOnly];
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
  const launchers = isRoot ? [reachAllThenDropThenBox, dropThenBox] : [boxOnly];
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

/** Bubblewrap's arguments up to the workspace's mount; options that this version does not have are left out. */
async function describeBox(help: string, limits: SandboxLimits): Promise<string[]> {
  const sized = help.includes("--size ") ? ["--size", String(limits.temporaryBytesMax)] : [];
  const noNesting = help.includes("--disable-userns") ? ["--unshare-user", "--disable-userns"] : [];
  const system: string[] = [];
  for (const name of ["bin", "sbin", "lib", "lib32", "lib64", "libx32"]) {
    const stat = await lstat(`/${name}`).catch(() => undefined);
    if (stat?.isSymbolicLink()) system.push("--symlink", await readlink(`/${name}`), `/${name}`);
    else if (stat?.isDirectory()) system.push("--ro-bind", `/${name}`, `/${name}`);
  }
  return [
    "--unshare-all",
    ...noNesting,
    "--die-with-parent",
    "--new-session",
    "--clearenv",
    "--hostname",
    "sandbox",
    "--ro-bind",
    "/usr",
    "/usr",
    ...system,
    ...READABLE_OF_ETC.flatMap((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    ...sized,
    "--tmpfs",
    "/dev/shm",
    "--remount-ro",
    "/dev",
    ...sized,
    "--tmpfs",
    "/tmp",
    "--setenv",
    "PATH",
    systemPath,
    "--setenv",
    "HOME",
    "/workspace",
    "--setenv",
    "TMPDIR",
    "/tmp",
    "--setenv",
    "LANG",
    "C.UTF-8",
    "--setenv",
    "TERM",
    "dumb",
  ];
}

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

/** The folder is mounted over /tmp, in a mount namespace of this command alone, before the privileges go. */
const reachThenDropThenBox: Launcher = (box, command, limits) => ({
  file: "unshare",
  args: [
    "--mount",
    "--propagation",
    "private",
    "sh",
    "-c",
    'mount --bind "$0" /tmp && exec "$@"',
    command.folder,
    "setpriv",
    ...DROP_ARGUMENTS,
    "bwrap",
    ...boxArguments(box, "/tmp", command, limits),
  ],
});

/**
 * What a program reads may lie where the dropped user cannot go, such as in root's home. Each piece is mounted over an empty
 * one of `reach`, in a mount namespace of this command alone, before the privileges go.
 */
const reachAllThenDropThenBox: (
  box: string[],
  command: ArgvCommand,
  limits: SandboxLimits,
) => Omit<CommandPlan, "env"> = (box, command, limits) => {
  const { reach = [] } = command;
  const within = (from: string) => reach.find((place) => place.from === from)?.at ?? from;
  const moved: ArgvCommand = {
    ...command,
    node: command.node === undefined ? undefined : within(command.node),
    shown: (command.shown ?? []).map(({ from, to }) => ({ from: within(from), to })),
  };
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
      ...reach.flatMap(({ from, at }) => [from, at]),
      "--",
      "setpriv",
      ...DROP_ARGUMENTS,
      "bwrap",
      ...boxArguments(box, within(command.folder), moved, limits),
    ],
  };
};

function boxArguments(box: string[], source: string, command: Command, limits: SandboxLimits): string[] {
  return [
    ...box,
    "--bind",
    source,
    "/workspace",
    ...("argv" in command ? programArguments(command) : []),
    "--remount-ro",
    "/",
    "--chdir",
    ["/workspace", ...command.names].join("/"),
    "--",
    ...limitedShell(command, limits),
  ];
}

/** A program's own files, and a home without anything of the workspace: Node and Python look for modules there. */
function programArguments({ files, node, shown = [] }: ArgvCommand): string[] {
  return [
    ...["--setenv", "HOME", "/tmp"],
    ...(node === undefined ? [] : ["--ro-bind", node, SERVICE_NODE]),
    ...shown.flatMap(({ from, to }) => ["--ro-bind", from, to]),
    ...files.flatMap((path, index) => ["--perms", "0444", "--file", String(3 + index), path]),
  ];
}

/**
 * The shell under its limits: memory, processes, files, CPU time, hard and soft.
 * Set inside the new user namespace, so that the processes counted are this command's own.
 */
function limitedShell(command: Command, limits: SandboxLimits): string[] {
  const kibibytes = (bytes: number) => Math.ceil(bytes / 1_024);
  const hasUnlimitedAddressSpace = "argv" in command && command.hasUnlimitedAddressSpace === true;
  const ulimits = [
    `-c 0 -u ${limits.processesMax} -n ${limits.openFilesMax} -t ${command.cpuSeconds}`,
    `-d ${kibibytes(limits.memoryBytesMax)}`,
    ...(hasUnlimitedAddressSpace ? [] : [`-v ${kibibytes(limits.memoryBytesMax) * 8}`]),
    `-f ${kibibytes(limits.commandFileBytesMax)}`,
  ].join(" ");
  // When the machine runs out of memory, the kernel ends a command before it ends the service.
  const firstToEnd = "echo 1000 2>/dev/null > /proc/self/oom_score_adj";
  const limit = `${firstToEnd}; ulimit ${ulimits}`;
  if ("argv" in command) return ["bash", "-c", `${limit} && exec "$@" 2>&1`, "bash", ...command.argv];
  return ["bash", "-c", `${limit} && exec bash -c "$0" 2>&1`, command.command];
}

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
