import { lstat, readlink } from "node:fs/promises";
import { fileNameBytes } from "#lib/disk/file-name.ts";
import { LOWER_AUTOGROUP } from "#lib/isolation/low-priority.ts";
import type { SandboxUser } from "#lib/isolation/sandbox-users.ts";
import type { SandboxLimits } from "../sandbox-limits.ts";

/** A file or folder of the host (`from`), and the file or folder over which it is mounted (`at`). */
export type Mount = { from: string; at: string };

/** The workspace's folder and the limits and rights with which a command runs in it. */
export type CommandContext = {
  folder: string;
  cpuSeconds: number;
  /** The user that the command runs as; undefined if the service is not root. */
  user: SandboxUser | undefined;
  /** The file through which the command joins its session's control group, if there is one. */
  joinPath: string | undefined;
};

/**
 * A shell command. `names` are the folder names on the path from the workspace's root to the folder in which the
 * command starts.
 */
export type ShellCommand = CommandContext & {
  names: string[];
  command: string;
  /** Whether the command must not be able to write to any file. It can still remove files. */
  isRemovalOnly?: boolean;
};

/** A program with its arguments as an array. `names` has the same meaning as in ShellCommand. */
export type ArgvCommand = CommandContext & {
  names: string[];
  argv: readonly string[];
  /** Files that the launcher creates in the sandbox's memory; read-only for the program. */
  files: readonly { path: string; bytes: Uint8Array }[];
  /** Path of the service's own Node on the host. It is mounted at {@link SERVICE_NODE}. */
  node?: string | undefined;
  /** Further files and folders of the host that are mounted read-only in the sandbox. */
  shown?: readonly { from: string; to: string }[];
  /**
   * Mounts that are made before privileges are dropped: of the workspace, `node` and the entries of `shown`, because
   * the unprivileged user possibly cannot reach their original paths.
   */
  reach?: readonly Mount[];
  /**
   * Set for Chromium: a limit of the address space would break it, because it reserves far more address space than it
   * uses.
   */
  hasUnlimitedAddressSpace?: boolean;
};

export type Command = ShellCommand | ArgvCommand;

/** Path of the service's own Node inside the sandbox. */
export const SERVICE_NODE = "/opt/service/node";

/** Search path for programs. The host's own PATH is not passed on. */
export const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/**
 * Entries of /etc that commands may read: only those that programs need to start. They contain no user names and no
 * keys.
 */
const READABLE_OF_ETC = [
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "alternatives",
  "ssl/certs",
  "localtime",
  "fonts",
];
/** First of the file descriptors that bubblewrap reads. */
const FIRST_INPUT = 3;

/** The part of the confinement that is the same for all commands. Test runs have a box with other limits. */
export type Box = {
  /** Bubblewrap's options up to the workspace's mount. */
  options: string[];
  /** The seccomp filter, if this machine has one. */
  filter: Uint8Array | undefined;
  limits: SandboxLimits;
};

/**
 * Builds a {@link Box} for this machine.
 * @param help output of `bwrap --help`; options that this version does not have are left out.
 */
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
  const options = [
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
  return { options, filter, limits };
}

/**
 * Returns bubblewrap's arguments, and the inputs that it reads from its descriptors, in order. The first input holds the
 * options, because the sandbox shows the arguments of its first process (`/proc/1/cmdline`), and the options contain
 * paths of the host.
 *
 * @param source path of the workspace's folder.
 */
export function boxCommand(
  box: Box,
  source: string,
  command: Command,
): { args: string[]; inputs: Uint8Array[] } {
  const { options, filter, limits } = box;
  const filterAt = FIRST_INPUT + 1;
  const filesAt = filterAt + (filter ? 1 : 0);
  const files = "argv" in command ? command.files.map(({ bytes }) => bytes) : [];
  const all = [
    ...options,
    ...(filter ? ["--seccomp", String(filterAt)] : []),
    "--bind",
    source,
    "/workspace",
    ...("argv" in command ? programOptions(command, filesAt) : []),
    "--remount-ro",
    "/",
    "--chdir",
    ["/workspace", ...command.names].join("/"),
  ];
  // A name in the last option may have bytes that are not UTF-8. No other option contains escapes.
  const encoded = all.map((option, index) =>
    index === all.length - 1 ? fileNameBytes(option) : Buffer.from(option),
  );
  const inputs = [
    Buffer.concat(encoded.flatMap((option) => [option, Buffer.from([0])])),
    ...(filter ? [filter] : []),
    ...files,
  ];
  const shell = limitedShell(command, limits, FIRST_INPUT + inputs.length);
  return { args: ["--args", String(FIRST_INPUT), "--", ...shell], inputs };
}

/**
 * Returns the options that mount a program's files and set a home outside the workspace, because Node and Python load
 * modules from the home.
 */
function programOptions({ files, node, shown = [] }: ArgvCommand, firstInput: number): string[] {
  return [
    ...["--setenv", "HOME", "/tmp"],
    ...(node === undefined ? [] : ["--ro-bind", node, SERVICE_NODE]),
    ...shown.flatMap(({ from, to }) => ["--ro-bind", from, to]),
    ...files.flatMap(({ path }, index) => ["--perms", "0444", "--file", String(firstInput + index), path]),
  ];
}

/** Makes a write beyond the size limit of a file fail with an error instead of ending the process. */
export const FAIL_WRITES = "trap '' XFSZ";

/**
 * Returns the command line of a shell that joins the control group, sets hard and soft limits of memory, processes,
 * files and CPU time, and then runs the command. The limits are set inside the new user namespace, so that only this
 * command's processes are counted.
 *
 * @param groupDescriptor descriptor of the file through which a process joins the group.
 */
function limitedShell(command: Command, limits: SandboxLimits, groupDescriptor: number): string[] {
  const kibibytes = (bytes: number) => Math.ceil(bytes / 1_024);
  const isRemovalOnly = "command" in command && command.isRemovalOnly === true;
  const hasUnlimitedAddressSpace = "argv" in command && command.hasUnlimitedAddressSpace === true;
  const ulimits = [
    `-c 0 -u ${limits.processesMax} -n ${limits.openFilesMax} -t ${command.cpuSeconds}`,
    `-d ${kibibytes(limits.memoryBytesMax)}`,
    ...(hasUnlimitedAddressSpace ? [] : [`-v ${kibibytes(limits.memoryBytesMax) * 8}`]),
    `-f ${isRemovalOnly ? 0 : kibibytes(limits.commandFileBytesMax)}`,
  ].join(" ");
  // If the machine runs out of memory, the kernel kills a command before the service.
  const killFirst = "echo 1000 2>/dev/null > /proc/self/oom_score_adj";
  // 0 stands for the writing process. The write is allowed, because the kernel checks the rights of the service, which
  // opened the file.
  const join = `{ echo 0 >&${groupDescriptor} && exec ${groupDescriptor}>&-; } || exit 125; `;
  const limit = [
    `${command.joinPath === undefined ? "" : join}${killFirst}`,
    LOWER_AUTOGROUP,
    ...(isRemovalOnly ? [FAIL_WRITES] : []),
    `ulimit ${ulimits}`,
  ].join("; ");
  if ("argv" in command) return ["bash", "-c", `${limit} && exec "$@" 2>&1`, "bash", ...command.argv];
  return ["bash", "-c", `${limit} && exec bash -c "$0" 2>&1`, command.command];
}
