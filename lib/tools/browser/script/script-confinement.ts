import { type ChildProcess, spawn } from "node:child_process";
import { access, constants, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { withLowPriority } from "#lib/isolation/low-priority.ts";
import { NOBODY, type SandboxUser } from "#lib/isolation/sandbox-users.ts";
import { seccompFilter } from "#lib/isolation/seccomp-filter.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";

/** How a script's child process is confined, from the strongest way to the weakest. */
export const CONFINEMENT_KINDS = ["bubblewrap", "namespaces", "permissions"] as const;
export type ConfinementKind = (typeof CONFINEMENT_KINDS)[number];

/** The command that starts a child. */
export type ChildCommand = {
  command: string;
  args: string[];
  /** Bytes that the command reads from its file descriptors 3, 4 and so on, such as bubblewrap's system call filter. */
  inputs: readonly Uint8Array[];
};

/** A way to start a confined child. `detail` describes it for people. */
export type Confinement = {
  kind: ConfinementKind;
  detail: string;
  /** Whether each child can run as a separate user of the operating system. */
  hasUsers: boolean;
  /** @param user the user that the child runs as, if `hasUsers`. If undefined, all children run as the same user. */
  start: (user: SandboxUser | undefined) => ChildCommand;
};

const PROBE_TIMEOUT_MS = 10_000;
const HEAP_MB = 256;
/** Limit of the child's writable memory, including buffers; V8 itself needs about half a gigabyte of it. */
const DATA_BYTES_MAX = 1024 * 2 ** 20;
/** Limit of processes and threads of a child that has its own user; Node and bubblewrap need about 15. */
const PROCESSES_MAX = 128;
/** Files that Playwright looks for when it loads. Loading fails without the permission to read them. */
const PLAYWRIGHT_FILES = ["/proc/version", "/proc/sys/fs/binfmt_misc/WSLInterop", "/run/WSL"];

/**
 * Tries the ways to confine a child process and returns the strongest one that works on this machine. In order:
 * bubblewrap (no network; no files but Node, its libraries and Playwright), namespaces without bubblewrap (no network),
 * Node's permission model alone. If the service is root, the child runs as another user where possible.
 * @param nodePath path of the Node executable that runs the child, version 24 or later.
 * @param kinds the ways to try.
 * @param path search path for the programs that confine, as in PATH.
 * @returns the confinement. If none works, the reason why the first one that was tried does not work.
 */
export async function findConfinement(
  nodePath: string,
  kinds: readonly ConfinementKind[],
  path?: string,
): Promise<Confinement | { reason: string }> {
  const parts = {
    nodePath,
    childPath: fileURLToPath(new URL("./child/script-child.ts", import.meta.url)),
    playwrightPath: dirname(createRequire(import.meta.url).resolve("playwright-core/package.json")),
  };
  const isRoot = process.getuid?.() === 0;
  const isReachable = (await Promise.all(Object.values(parts).map(isReadableByAll))).every(Boolean);
  const tools = { prlimit: await isInstalled("prlimit"), setpriv: await isInstalled("setpriv") };
  const lowerPriority = (await isInstalled("nice")) ? withLowPriority : (command: string[]) => command;
  const limits = tools.prlimit ? ["prlimit", `--data=${DATA_BYTES_MAX}`, "--core=0", "--nofile=256"] : [];
  // The kernel counts processes per user, so the limit of processes makes sense only for a child with its own user.
  const ownLimits = tools.prlimit ? [...limits, `--nproc=${PROCESSES_MAX}`] : [];
  const hasUsers = isRoot && isReachable && tools.setpriv;
  const dropTo = ({ uid, gid }: SandboxUser) =>
    hasUsers ? ["setpriv", "--reuid", String(uid), "--regid", String(gid), "--clear-groups"] : [];
  const dieWithParent = tools.setpriv ? ["setpriv", "--pdeathsig", "KILL"] : [];
  const bare = [
    parts.nodePath,
    ...nodeFlags([...PLAYWRIGHT_FILES, parts.playwrightPath, dirname(parts.childPath), packageJsonPath()]),
  ];
  // With `--pid`, the child is the first process of its own namespace, so all processes that it starts end when it
  // ends.
  const unshare = ["unshare", ...(isRoot ? [] : ["--user"]), "--net", "--ipc", "--pid", "--fork"];

  const filter = seccompFilter();
  // Bubblewrap reads its options from descriptor 3, because the sandbox shows the arguments of its first process, and
  // the options contain paths of this machine.
  const inBubblewrap = (
    filtered: Uint8Array | undefined,
    isStayingRoot = isRoot && !hasUsers,
  ): Candidate => ({
    kind: "bubblewrap",
    hasUsers: hasUsers && !isStayingRoot,
    buildCommand: (drop, limit) => [
      ...(isStayingRoot ? [] : drop),
      ...limit,
      ...["bwrap", "--args", "3", "/runner/node"],
      ...nodeFlags([...PLAYWRIGHT_FILES, "/runner"]),
    ],
    inputs: [
      Buffer.from(`${bubblewrapOptions(parts, isStayingRoot, filtered !== undefined).join("\0")}\0`),
      ...(filtered ? [filtered] : []),
    ],
    child: "/runner/child/script-child.ts",
    detail: `bubblewrap: no network, no files, no environment${filtered ? ", filtered system calls" : ""}`,
  });
  const candidates: Candidate[] = [
    ...(filter ? [inBubblewrap(filter)] : []),
    // Without the system call filter, for a kernel without seccomp or an old version of bubblewrap.
    inBubblewrap(undefined),
    // For a kernel on which only root may create namespaces: the child has another user inside them.
    ...(filter && hasUsers ? [inBubblewrap(filter, true)] : []),
    {
      kind: "namespaces",
      hasUsers,
      buildCommand: (drop, limit) => [
        ...dieWithParent,
        ...unshare,
        ...drop,
        ...dieWithParent,
        ...limit,
        ...bare,
      ],
      inputs: [],
      child: parts.childPath,
      detail: "a network namespace and Node's permission model (bubblewrap would also hide the file system)",
    },
    {
      kind: "permissions",
      hasUsers,
      buildCommand: (drop, limit) => [...drop, ...dieWithParent, ...limit, ...bare],
      inputs: [],
      child: parts.childPath,
      detail: "Node's permission model alone (install bubblewrap to also take the network away)",
    },
  ];
  let reason = "";
  for (const candidate of candidates) {
    const { kind, buildCommand, inputs, child, detail } = candidate;
    if (!kinds.includes(kind)) continue;
    const start = (user?: SandboxUser) => {
      const drop = dropTo(user ?? NOBODY);
      const [command = "", ...args] = lowerPriority(buildCommand(drop, user ? ownLimits : limits));
      return { command, args, inputs };
    };
    const failure = await tryStart(start(), path);
    if (failure === undefined)
      return {
        kind,
        detail,
        hasUsers: candidate.hasUsers,
        start(user) {
          const { args, ...rest } = start(user);
          return { ...rest, args: [...args, child] };
        },
      };
    reason ||= `${kind}: ${failure}`;
  }
  return { reason };
}

type Candidate = {
  kind: ConfinementKind;
  /** Whether each child can run as a separate user. */
  hasUsers: boolean;
  /**
   * Builds the command with its arguments. `drop` and `limit` are command prefixes: `drop` drops privileges, `limit`
   * sets limits.
   */
  buildCommand: (drop: string[], limit: string[]) => string[];
  inputs: Uint8Array[];
  child: string;
  detail: string;
};

/** Tries to start Node in a confined child. @returns why it did not start, or undefined on success. */
function tryStart(
  { command, args, inputs }: ChildCommand,
  path: string | undefined,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(command, [...args, "--eval", "0"], {
      env: { ...childEnvironment(), ...(path !== undefined && { PATH: path }) },
      timeout: PROBE_TIMEOUT_MS,
      cwd: "/",
      stdio: ["ignore", "ignore", "pipe", ...inputs.map(() => "pipe" as const)],
    });
    let output = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      output = beginningOf(output + text, 1_000);
    });
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) =>
      resolve(code === 0 ? undefined : output.trim() || `it ended with ${signal ?? `exit code ${code}`}`),
    );
    sendInputs(child, inputs);
  });
}

/**
 * Writes a command's inputs to its file descriptors. Ignores write errors, because a command that ends before it reads
 * its inputs reports its own error.
 */
export function sendInputs({ stdio }: ChildProcess, inputs: readonly Uint8Array[]): void {
  for (const [index, bytes] of inputs.entries()) {
    const stream = stdio[3 + index];
    if (!(stream instanceof Writable)) continue;
    stream.on("error", () => {});
    stream.end(bytes);
  }
}

/** Returns the complete environment of a child: `PATH`, and a home folder that does not exist. */
export const childEnvironment = (): NodeJS.ProcessEnv =>
  ({
    PATH: process.platform === "win32" ? "" : "/usr/local/bin:/usr/bin:/bin",
    HOME: "/nonexistent",
  }) as unknown as NodeJS.ProcessEnv;

function bubblewrapOptions(
  parts: { nodePath: string; childPath: string; playwrightPath: string },
  isStayingRoot: boolean,
  isFiltered: boolean,
): string[] {
  const readOnly = (from: string, to = from) => ["--ro-bind-try", from, to];
  return [
    "--unshare-all",
    "--die-with-parent",
    "--clearenv",
    "--setenv",
    "HOME",
    "/nonexistent",
    ...(isStayingRoot
      ? ["--unshare-user", "--uid", String(NOBODY.uid), "--gid", String(NOBODY.gid), "--cap-drop", "ALL"]
      : []),
    // The shared libraries that Node needs. Programs and settings of the machine are not mounted.
    ...["/usr/lib", "/usr/lib64", "/lib", "/lib64"].flatMap((path) => readOnly(path)),
    ...readOnly("/etc/ld.so.cache"),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    ...readOnly(parts.nodePath, "/runner/node"),
    ...readOnly(parts.playwrightPath, "/runner/node_modules/playwright-core"),
    ...readOnly(dirname(parts.childPath), "/runner/child"),
    ...readOnly(packageJsonPath(), "/runner/package.json"),
    "--remount-ro",
    "/",
    "--chdir",
    "/runner",
    ...(isFiltered ? ["--seccomp", "4"] : []),
  ];
}

const nodeFlags = (readable: string[]): string[] => [
  "--permission",
  ...readable.map((path) => `--allow-fs-read=${path}`),
  `--max-old-space-size=${HEAP_MB}`,
  "--no-warnings",
];

const packageJsonPath = () => fileURLToPath(new URL("../../../../package.json", import.meta.url));

async function isInstalled(program: string): Promise<boolean> {
  const folders = (childEnvironment().PATH ?? "").split(delimiter);
  const found = await Promise.all(
    folders.map((folder) =>
      access(join(folder, program), constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.includes(true);
}

/** Whether all users can read a path, which requires that they can enter every folder above it. */
async function isReadableByAll(path: string): Promise<boolean> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return ((await stat(path)).mode & 0o004) !== 0;
  }
}
