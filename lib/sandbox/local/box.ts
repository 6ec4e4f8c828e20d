import { lstat, readlink } from "node:fs/promises";
import type { SandboxUser } from "#lib/isolation/sandbox-users.ts";
import type { SandboxLimits } from "../sandbox-limits.ts";

/** A file or folder of the host, and an empty one to mount it over. */
export type Mount = { from: string; at: string };

/** Where a command runs, and with what. */
export type Place = {
  /** The workspace's folder. */
  folder: string;
  cpuSeconds: number;
  /** Who runs it, if the service is root. */
  user: SandboxUser | undefined;
  /** The file with which it joins its session's control group, if there is one. */
  joinPath: string | undefined;
};

/** A command for a workspace's folder: `names` lead from its root to where it starts. */
export type ShellCommand = Place & { names: string[]; command: string };

/** A program for a workspace's folder, by argument array. */
export type ArgvCommand = Place & {
  names: string[];
  argv: readonly string[];
  /** Files that the launcher writes into the sandbox's memory; read-only for the program. */
  files: readonly { path: string; bytes: Uint8Array }[];
  /** The service's own Node, bound at {@link SERVICE_NODE}. */
  node?: string | undefined;
  /** Further files and folders of the host, shown read-only. */
  shown?: readonly { from: string; to: string }[];
  /** Where pieces of the host can be mounted that the dropped user cannot reach. */
  reach?: readonly Mount[];
  /** Chromium reserves far more address space than it uses, so that it cannot be limited. */
  hasUnlimitedAddressSpace?: boolean;
};

export type Command = ShellCommand | ArgvCommand;

/** Where a program finds the service's own Node, if the sandbox has no other. */
export const SERVICE_NODE = "/opt/service/node";

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
/** Descriptors from this one on are read by bubblewrap. */
const FIRST_INPUT = 3;

/** What all commands of a kind are confined by. */
export type Box = {
  /** Bubblewrap's arguments up to the workspace's mount. */
  args: string[];
  /** The seccomp filter, if this machine has one. */
  filter: Uint8Array | undefined;
  limits: SandboxLimits;
};

/** @param help what this version of bubblewrap says of its options: those that it does not have are left out. */
export async function describeBox(
  help: string,
  limits: SandboxLimits,
  filter: Uint8Array | undefined,
): Promise<Box> {
  const sized = help.includes("--size ") ? ["--size", String(limits.temporaryBytesMax)] : [];
  const noNesting = help.includes("--disable-userns") ? ["--unshare-user", "--disable-userns"] : [];
  const system: string[] = [];
  for (const name of ["bin", "sbin", "lib", "lib32", "lib64", "libx32"]) {
    const stat = await lstat(`/${name}`).catch(() => undefined);
    if (stat?.isSymbolicLink()) system.push("--symlink", await readlink(`/${name}`), `/${name}`);
    else if (stat?.isDirectory()) system.push("--ro-bind", `/${name}`, `/${name}`);
  }
  const args = [
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
  return { args, filter, limits };
}

/** What bubblewrap reads from its descriptors, in their order. */
export const boxInputs = ({ filter }: Box, command: Command): Uint8Array[] => [
  ...(filter ? [filter] : []),
  ...("argv" in command ? command.files.map(({ bytes }) => bytes) : []),
];

/** All of bubblewrap's arguments. @param source where the workspace's folder is found. */
export function boxArguments({ args, filter, limits }: Box, source: string, command: Command): string[] {
  return [
    ...args,
    ...(filter ? ["--seccomp", String(FIRST_INPUT)] : []),
    "--bind",
    source,
    "/workspace",
    ...("argv" in command ? programArguments(command, FIRST_INPUT + (filter ? 1 : 0)) : []),
    "--remount-ro",
    "/",
    "--chdir",
    ["/workspace", ...command.names].join("/"),
    "--",
    ...limitedShell(command, limits, FIRST_INPUT + boxInputs({ args, filter, limits }, command).length),
  ];
}

/** A program's own files, and a home without anything of the workspace: Node and Python look for modules there. */
function programArguments({ files, node, shown = [] }: ArgvCommand, firstInput: number): string[] {
  return [
    ...["--setenv", "HOME", "/tmp"],
    ...(node === undefined ? [] : ["--ro-bind", node, SERVICE_NODE]),
    ...shown.flatMap(({ from, to }) => ["--ro-bind", from, to]),
    ...files.flatMap(({ path }, index) => ["--perms", "0444", "--file", String(firstInput + index), path]),
  ];
}

/**
 * The shell in its control group and under its limits: memory, processes, files, CPU time, hard and soft.
 * Set inside the new user namespace, so that the processes counted are this command's own.
 *
 * @param groupDescriptor of the file with which a process joins the group.
 */
function limitedShell(command: Command, limits: SandboxLimits, groupDescriptor: number): string[] {
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
  // 0 is the process that writes it. The service has opened the file, and the kernel goes by its rights.
  const join = `{ echo 0 >&${groupDescriptor} && exec ${groupDescriptor}>&-; } || exit 125; `;
  const limit = `${command.joinPath === undefined ? "" : join}${firstToEnd}; ulimit ${ulimits}`;
  if ("argv" in command) return ["bash", "-c", `${limit} && exec "$@" 2>&1`, "bash", ...command.argv];
  return ["bash", "-c", `${limit} && exec bash -c "$0" 2>&1`, command.command];
}
