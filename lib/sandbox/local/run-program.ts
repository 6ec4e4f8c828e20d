import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { withLowPriority } from "#lib/isolation/low-priority.ts";
import type { Program, Runtime } from "../sandbox-service.ts";
import { WorkspaceError } from "../workspace-error.ts";
import { type ArgvCommand, type CommandContext, SERVICE_NODE, systemPath } from "./box.ts";
import type { Confinement } from "./confinement.ts";
import { type CommandPlan, runCommand } from "./run-command.ts";

/** A program that is ready to start. `remove` deletes the files that were created for it. */
type StagedProgram = { plan: CommandPlan; remove: () => Promise<void> };
/** Prepares a program to run in a workspace's folder. */
export type ProgramStage = (program: Program, place: CommandContext) => Promise<StagedProgram>;

/** Folder of a confined program's files: outside of the workspace, in memory, read-only. */
const PROGRAM_FOLDER = "/skill";
const PROBE_TIMEOUT_MS = 10_000;

/**
 * Options of each runtime. Every runtime passes the arguments after the script's path to the script. Python must ignore
 * its environment variables and the user's packages.
 */
const RUNTIME_OPTIONS: Record<Runtime, string[]> = {
  node: [],
  python3: ["-E", "-s", "-B"],
  bash: ["--noprofile", "--norc"],
};

export const argvOf = (file: string, folder: string, { runtime, script, args }: Program): string[] => [
  file,
  ...RUNTIME_OPTIONS[runtime],
  `${folder}/${script}`,
  ...args,
];

const refuseRuntime = (runtime: Runtime) => new WorkspaceError(`${runtime} is not installed in the sandbox`);

/**
 * Returns the path of a program in a folder of `systemPath`. The path is the same inside the sandbox and on the host.
 */
async function findInSystem(name: string): Promise<string | undefined> {
  for (const folder of systemPath.split(":")) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found?.isFile() && (found.mode & 0o111) !== 0) return join(folder, name);
  }
  return undefined;
}

/**
 * Prepares programs to run in the sandbox. Their files are sent through pipes into the sandbox's memory and are never
 * on a disk that another command could write to.
 *
 * @param folder an existing folder, in which a short command runs once to check which Node works in the sandbox.
 */
export function createConfinedStage(
  { plan, sharedUser }: Pick<Confinement & { works: true }, "plan" | "sharedUser">,
  folder: string,
): ProgramStage {
  let nodeSearch: Promise<{ file: string; node?: string } | undefined> | undefined;

  const runsInSandbox = async (argv: string[], node?: string): Promise<boolean> => {
    const place: CommandContext = { folder, cpuSeconds: 10, user: sharedUser, joinPath: undefined };
    const probe: ArgvCommand = { ...place, names: [], argv, files: [], node };
    const limits = { timeoutMs: PROBE_TIMEOUT_MS, outputBytesMax: 4_096, floodBytesMax: 65_536 };
    const signal = new AbortController().signal;
    const result = await runCommand(plan(probe), { ...limits, signal }).catch(() => undefined);
    return result?.exitCode === 0;
  };
  /** Finds the service's own Node, or the system's Node if the service's does not run in the sandbox. */
  const findNode = async () => {
    const node = await realpath(process.execPath);
    if (await runsInSandbox([SERVICE_NODE, "--version"], node)) return { file: SERVICE_NODE, node };
    const file = await findInSystem("node");
    return file !== undefined && (await runsInSandbox([file, "--version"])) ? { file } : undefined;
  };
  /** Caches the result of `findNode`. Searches again after a failure, because the machine may only have been busy. */
  const findNodeOnce = () => {
    const forget = () => {
      nodeSearch = undefined;
    };
    if (nodeSearch) return nodeSearch;
    nodeSearch = findNode();
    nodeSearch.then((found) => found ?? forget(), forget);
    return nodeSearch;
  };
  const findRuntime = async (runtime: Runtime): Promise<{ file: string; node?: string } | undefined> => {
    if (runtime === "node") return findNodeOnce();
    const file = await findInSystem(runtime);
    return file === undefined ? undefined : { file };
  };

  return async (program, place) => {
    const found = await findRuntime(program.runtime);
    if (!found) throw refuseRuntime(program.runtime);
    const command: ArgvCommand = {
      ...place,
      names: [],
      argv: argvOf(found.file, PROGRAM_FOLDER, program),
      files: program.files.map(({ path, bytes }) => ({ path: `${PROGRAM_FOLDER}/${path}`, bytes })),
      node: found.node,
    };
    return { plan: plan(command), remove: async () => {} };
  };
}

/** Prepares programs to run without confinement, in a temporary folder that is removed after the run. */
export const stageUnconfined: ProgramStage = async (program, { folder, cpuSeconds }) => {
  const { runtime, files } = program;
  const file = runtime === "node" ? process.execPath : await findInSystem(runtime);
  if (file === undefined) throw refuseRuntime(runtime);
  const parent = await mkdtemp(join(await realpath(tmpdir()), "skill-"));
  const home = join(parent, "home");
  const staged = join(parent, randomUUID());
  const remove = () => rm(parent, { recursive: true, force: true });
  try {
    await mkdir(home);
    for (const { path, bytes } of files) {
      await mkdir(dirname(join(staged, path)), { recursive: true });
      await writeFile(join(staged, path), bytes, { mode: 0o444 });
    }
  } catch (error) {
    await remove();
    throw error;
  }
  const argv = argvOf(file, staged, program);
  const limited = `ulimit -c 0 -t ${cpuSeconds} && exec "$@" 2>&1`;
  const [launcher = "", ...args] = withLowPriority(["bash", "-c", limited, "bash", ...argv]);
  return {
    plan: {
      file: launcher,
      args,
      cwd: folder,
      env: { PATH: systemPath, HOME: home, LANG: "C.UTF-8", TERM: "dumb" },
    },
    remove,
  };
};
