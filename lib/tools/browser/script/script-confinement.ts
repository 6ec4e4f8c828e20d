import { execFile } from "node:child_process";
import { access, constants, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** How a script's child process is confined, from the strongest way to the weakest. */
const CONFINEMENT_KINDS = ["bubblewrap", "namespaces", "permissions"] as const;
export type ConfinementKind = (typeof CONFINEMENT_KINDS)[number];

/** The command that starts a confined child, and its description. */
export type Confinement = { kind: ConfinementKind; command: string; args: string[]; detail: string };

const NOBODY = "65534";
const HEAP_MB = 256;
/** Cap on writable memory of the child, buffers included; V8 itself needs about half a gigabyte of it. */
const DATA_BYTES_MAX = 1024 * 2 ** 20;
/** Files that Playwright looks for when it loads; it fails to load without the permission to look. */
const ASKED_FOR = ["/proc/version", "/proc/sys/fs/binfmt_misc/WSLInterop", "/run/WSL"];

const run = promisify(execFile);

/**
 * Finds the strongest way to confine a child process on this machine, by trying each: bubblewrap (no network, no files but
 * Node and Playwright, another user), namespaces without it, Node's permission model alone.
 * @param nodePath the Node ≥ 24 to run. @param kinds which ways to try, all by default. @throws Error when not even the weakest starts.
 */
export async function findConfinement(
  nodePath: string,
  kinds: readonly ConfinementKind[] = CONFINEMENT_KINDS,
): Promise<Confinement> {
  const parts = {
    nodePath,
    childPath: fileURLToPath(new URL("./child/script-child.ts", import.meta.url)),
    playwrightPath: dirname(createRequire(import.meta.url).resolve("playwright-core/package.json")),
  };
  const isRoot = process.getuid?.() === 0;
  const isReachable = (await Promise.all(Object.values(parts).map(isReadableByAll))).every(Boolean);
  const tools = { prlimit: await isInstalled("prlimit"), setpriv: await isInstalled("setpriv") };
  const limits = tools.prlimit ? ["prlimit", `--data=${DATA_BYTES_MAX}`, "--core=0", "--nofile=256"] : [];
  const drop =
    isRoot && isReachable && tools.setpriv
      ? ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]
      : [];
  const outlive = tools.setpriv ? ["setpriv", "--pdeathsig", "KILL"] : [];
  const bare = [
    parts.nodePath,
    ...nodeFlags([...ASKED_FOR, parts.playwrightPath, dirname(parts.childPath), packageJsonPath()]),
  ];
  // `--pid` makes the child the first process of its namespace: whatever it might start ends with it.
  const unshare = ["unshare", ...(isRoot ? [] : ["--user"]), "--net", "--ipc", "--pid", "--fork"];

  const candidates: { kind: ConfinementKind; words: string[]; child: string; detail: string }[] = [
    {
      kind: "bubblewrap",
      words: [...drop, ...limits, ...bubblewrap(parts, isRoot && drop.length === 0)],
      child: "/runner/child/script-child.ts",
      detail: "bubblewrap: no network, no files, no environment",
    },
    {
      kind: "namespaces",
      words: [...outlive, ...unshare, ...drop, ...outlive, ...limits, ...bare],
      child: parts.childPath,
      detail: "a network namespace and Node's permission model (bubblewrap would also hide the file system)",
    },
    {
      kind: "permissions",
      words: [...drop, ...outlive, ...limits, ...bare],
      child: parts.childPath,
      detail: "Node's permission model alone (install bubblewrap to also take the network away)",
    },
  ];
  let reason: unknown;
  for (const { kind, words, child, detail } of candidates.filter(({ kind }) => kinds.includes(kind))) {
    const [command = "", ...args] = words;
    try {
      await run(command, [...args, "--eval", "0"], { env: childEnvironment(), timeout: 10_000, cwd: "/" });
      return { kind, command, args: [...args, child], detail };
    } catch (error) {
      reason = error;
    }
  }
  throw new Error("Scripts cannot run on this machine: no child process starts.", { cause: reason });
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
    ...(isStayingRoot ? ["--unshare-user", "--uid", NOBODY, "--gid", NOBODY, "--cap-drop", "ALL"] : []),
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
