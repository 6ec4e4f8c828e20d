import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Program, Runtime } from "../sandbox-service.ts";
import { WorkspaceError } from "../workspace-error.ts";
import { type ArgvCommand, type Place, SERVICE_NODE, systemPath } from "./box.ts";
import type { Confinement } from "./confinement.ts";
import { type CommandPlan, runCommand } from "./run-command.ts";

/** A program that is ready to start, and the way to remove what was made for it. */
type StagedProgram = { plan: CommandPlan; remove: () => Promise<void> };
/** Prepares programs for a workspace's folder. */
export type ProgramStage = (program: Program, place: Place) => Promise<StagedProgram>;

/** Where a confined program's files lie: outside of the workspace, in memory, read-only. */
const PROGRAM_FOLDER = "/skill";
const PROBE_TIMEOUT_MS = 10_000;

/**
 * The arguments before a script's own. Node and Bash take what follows the script's path as the script's; Python is kept
 * from its environment and from the packages of a user.
 */
const OPTIONS: Record<Runtime, string[]> = {
  node: [],
  python3: ["-E", "-s", "-B"],
  bash: ["--noprofile", "--norc"],
};

export const argvOf = (file: string, folder: string, { runtime, script, args }: Program): string[] => [
  file,
  ...OPTIONS[runtime],
  `${folder}/${script}`,
  ...args,
];

const refuseRuntime = (runtime: Runtime) => new WorkspaceError(`${runtime} is not installed in the sandbox`);

/** The folder of `systemPath` that has a program, which the sandbox shows as the host does. */
async function findInSystem(name: string): Promise<string | undefined> {
  for (const folder of systemPath.split(":")) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found?.isFile() && (found.mode & 0o111) !== 0) return join(folder, name);
  }
  return undefined;
}

/**
 * Programs in the sandbox. Their files reach it through pipes and lie in its memory, so that they never are on a disk that
 * another command could write to.
 *
 * @param folder an existing folder; a short command runs in it once, to find out which Node the sandbox can have.
 */
export function createConfinedStage(
  { plan, sharedUser }: Pick<Confinement & { works: true }, "plan" | "sharedUser">,
  folder: string,
): ProgramStage {
  let finding: Promise<{ file: string; node?: string } | undefined> | undefined;

  const works = async (argv: string[], node?: string): Promise<boolean> => {
    const place: Place = { folder, cpuSeconds: 10, user: sharedUser, joinPath: undefined };
    const probe: ArgvCommand = { ...place, names: [], argv, files: [], node };
    const limits = { timeoutMs: PROBE_TIMEOUT_MS, outputBytesMax: 4_096, floodBytesMax: 65_536 };
    const signal = new AbortController().signal;
    const result = await runCommand(plan(probe), { ...limits, signal }).catch(() => undefined);
    return result?.exitCode === 0;
  };
  /** The service's own Node, which the user of the sandbox may be unable to reach; otherwise the system's. */
  const findNode = async () => {
    const node = await realpath(process.execPath);
    if (await works([SERVICE_NODE, "--version"], node)) return { file: SERVICE_NODE, node };
    const file = await findInSystem("node");
    return file !== undefined && (await works([file, "--version"])) ? { file } : undefined;
  };
  /** A probe that fails, for example because the machine is busy, is made again for the next program. */
  const findNodeOnce = () => {
    const forget = () => {
      finding = undefined;
    };
    if (finding) return finding;
    finding = findNode();
    finding.then((found) => found ?? forget(), forget);
    return finding;
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

/** Programs without confinement, in a folder of the system's temporary ones, which is removed after the run. */
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
  return {
    plan: {
      file: "bash",
      args: ["-c", limited, "bash", ...argv],
      cwd: folder,
      env: { PATH: systemPath, HOME: home, LANG: "C.UTF-8", TERM: "dumb" },
    },
    remove,
  };
};
