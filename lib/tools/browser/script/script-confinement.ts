import { type ChildProcess, spawn } from "node:child_process";
import { access, constants, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { SandboxUser } from "#lib/isolation/sandbox-users.ts";
import { seccompFilter } from "#lib/isolation/seccomp-filter.ts";

/** How a script's child process is confined, from the strongest way to the weakest. */
export const CONFINEMENT_KINDS = ["bubblewrap", "namespaces", "permissions"] as const;
export type ConfinementKind = (typeof CONFINEMENT_KINDS)[number];

/** The command that starts a child. */
export type ChildCommand = {
  command: string;
  args: string[];
  /** What the launcher reads from its descriptors 3, 4 and so on. */
  inputs: readonly Uint8Array[];
};

/** A way to start a confined child, and its description. */
export type Confinement = {
  kind: ConfinementKind;
  detail: string;
  /** Whether each child can have a user of its own. */
  hasUsers: boolean;
  /** @param user who the child runs as, if the service can start processes as others; otherwise a user that all share. */
  start: (user: SandboxUser | undefined) => ChildCommand;
};

const NOBODY = 65_534;
const PROBE_TIMEOUT_MS = 10_000;
const HEAP_MB = 256;
/** Cap on writable memory of the child, buffers included; V8 itself needs about half a gigabyte of it. */
const DATA_BYTES_MAX = 1024 * 2 ** 20;
/** Processes and threads of a user that runs one child; Node and bubblewrap take about 15 of them. */
const PROCESSES_MAX = 128;
/** Files that Playwright looks for when it loads; it fails to load without the permission to look. */
const ASKED_FOR = ["/proc/version", "/proc/sys/fs/binfmt_misc/WSLInterop", "/run/WSL"];

/**
 * Finds the strongest way to confine a child process on this machine, by trying each: bubblewrap (no network, no files but
 * Node and Playwright, another user), namespaces without it, Node's permission model alone.
 * @param nodePath the Node ≥ 24 to run. @param kinds which ways to try. @returns why, as half a sentence, when none of them works.
 */
export async function findConfinement(
  nodePath: string,
  kinds: readonly ConfinementKind[],
): Promise<Confinement | { reason: string }> {
  const parts = {
    nodePath,
    childPath: fileURLToPath(new URL("./child/script-child.ts", import.meta.url)),
    playwrightPath: dirname(createRequire(import.meta.url).resolve("playwright-core/package.json")),
  };
  const isRoot = process.getuid?.() === 0;
  const isReachable = (await Promise.all(Object.values(parts).map(isReadableByAll))).every(Boolean);
  const tools = { prlimit: await isInstalled("prlimit"), setpriv: await isInstalled("setpriv") };
  const limits = tools.prlimit ? ["prlimit", `--data=${DATA_BYTES_MAX}`, "--core=0", "--nofile=256"] : [];
  // The kernel counts the processes of a user, so that only a user of the child's own can be limited.
  const ownLimits = tools.prlimit ? [...limits, `--nproc=${PROCESSES_MAX}`] : [];
  const hasUsers = isRoot && isReachable && tools.setpriv;
  const dropTo = ({ uid, gid }: SandboxUser) =>
    hasUsers ? ["setpriv", "--reuid", String(uid), "--regid", String(gid), "--clear-groups"] : [];
  const outlive = tools.setpriv ? ["setpriv", "--pdeathsig", "KILL"] : [];
  const bare = [
    parts.nodePath,
    ...nodeFlags([...ASKED_FOR, parts.playwrightPath, dirname(parts.childPath), packageJsonPath()]),
  ];
  // `--pid` makes the child the first process of its namespace: whatever it might start ends with it.
  const unshare = ["unshare", ...(isRoot ? [] : ["--user"]), "--net", "--ipc", "--pid", "--fork"];

  const filter = seccompFilter();
  const inBubblewrap = (filtered: Uint8Array | undefined): Candidate => ({
    kind: "bubblewrap",
    words: (drop, limit) => [
      ...drop,
      ...limit,
      ...bubblewrap(parts, isRoot && !hasUsers, filtered !== undefined),
    ],
    inputs: filtered ? [filtered] : [],
    child: "/runner/child/script-child.ts",
    detail: `bubblewrap: no network, no files, no environment${filtered ? ", filtered system calls" : ""}`,
  });
  const candidates: Candidate[] = [
    ...(filter ? [inBubblewrap(filter)] : []),
    // A kernel without seccomp, or an old bubblewrap.
    inBubblewrap(undefined),
    {
      kind: "namespaces",
      words: (drop, limit) => [...outlive, ...unshare, ...drop, ...outlive, ...limit, ...bare],
      inputs: [],
      child: parts.childPath,
      detail: "a network namespace and Node's permission model (bubblewrap would also hide the file system)",
    },
    {
      kind: "permissions",
      words: (drop, limit) => [...drop, ...outlive, ...limit, ...bare],
      inputs: [],
      child: parts.childPath,
      detail: "Node's permission model alone (install bubblewrap to also take the network away)",
    },
  ];
  let reason = "";
  for (const { kind, words, inputs, child, detail } of candidates) {
    if (!kinds.includes(kind)) continue;
    const start = (user?: SandboxUser) => {
      const drop = dropTo(user ?? { uid: NOBODY, gid: NOBODY });
      const [command = "", ...args] = words(drop, user ? ownLimits : limits);
      return { command, args, inputs };
    };
    const failure = await tryStart(start());
    if (failure === undefined)
      return {
        kind,
        detail,
        hasUsers,
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
  /** The words of the command, given those that drop the privileges and those that set limits. */
  words: (drop: string[], limit: string[]) => string[];
  inputs: Uint8Array[];
  child: string;
  detail: string;
};

/** @returns why it does not start. */
function tryStart({ command, args, inputs }: ChildCommand): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(command, [...args, "--eval", "0"], {
      env: childEnvironment(),
      timeout: PROBE_TIMEOUT_MS,
      cwd: "/",
      stdio: ["ignore", "ignore", "pipe", ...inputs.map(() => "pipe" as const)],
    });
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      said = `${said}${chunk}`.slice(0, 1_000);
    });
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) =>
      resolve(code === 0 ? undefined : said.trim() || `it ended with ${signal ?? `exit code ${code}`}`),
    );
    sendInputs(child, inputs);
  });
}

/** Writes what a launcher reads from its descriptors; one that fails before it has read them says so itself. */
export function sendInputs({ stdio }: ChildProcess, inputs: readonly Uint8Array[]): void {
  for (const [index, bytes] of inputs.entries()) {
    const stream = stdio[3 + index];
    if (!(stream instanceof Writable)) continue;
    stream.on("error", () => {});
    stream.end(bytes);
  }
}

/** The whole environment of a child: the path of commands, and a home that does not exist. */
export const childEnvironment = (): NodeJS.ProcessEnv =>
  ({
    PATH: process.platform === "win32" ? "" : "/usr/local/bin:/usr/bin:/bin",
    HOME: "/nonexistent",
  }) as unknown as NodeJS.ProcessEnv;

function bubblewrap(
  parts: { nodePath: string; childPath: string; playwrightPath: string },
  isStayingRoot: boolean,
  isFiltered: boolean,
): string[] {
  const readOnly = (from: string, to = from) => ["--ro-bind-try", from, to];
  return [
    "bwrap",
    "--unshare-all",
    "--die-with-parent",
    "--clearenv",
    "--setenv",
    "HOME",
    "/nonexistent",
    ...(isStayingRoot
      ? ["--unshare-user", "--uid", String(NOBODY), "--gid", String(NOBODY), "--cap-drop", "ALL"]
      : []),
    // Node's shared libraries; programs and settings stay outside.
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
    ...(isFiltered ? ["--seccomp", "3"] : []),
    "/runner/node",
    ...nodeFlags([...ASKED_FOR, "/runner"]),
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

/** Whether other users can reach a path: every folder above it is open to all. */
async function isReadableByAll(path: string): Promise<boolean> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return ((await stat(path)).mode & 0o004) !== 0;
  }
}
