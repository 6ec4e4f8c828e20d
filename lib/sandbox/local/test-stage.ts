import { chmod, mkdir, mkdtemp, readdir, realpath, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { errorText, hidePaths } from "#lib/text/error-text.ts";
import { TEST_PROXY_SOCKET, type TestProgram } from "../sandbox-service.ts";
import { WorkspaceError } from "../workspace-error.ts";
import { type ArgvCommand, type CommandContext, SERVICE_NODE } from "./box.ts";
import type { Confinement } from "./confinement.ts";
import { isRunning } from "./process-tree.ts";
import { openProxySocket } from "./proxy-socket.ts";
import { type CommandPlan, runCommand } from "./run-command.ts";

/** Prepares a test program for a workspace's folder. `remove` deletes the files that were created for it. */
export type TestStage = (
  program: TestProgram,
  place: CommandContext,
) => Promise<{ plan: CommandPlan; remove: () => Promise<void> }>;

const PROBE_TIMEOUT_MS = 10_000;

/**
 * Prepares test programs to run in the sandbox. For the first program, checks which plan works on this machine, because
 * not every plan can show the service's Node and Playwright's packages to the sandbox.
 */
export function createTestStage({ planTests }: Confinement & { works: true }): TestStage {
  let chosen: ((command: ArgvCommand) => CommandPlan) | undefined;

  /** Returns the first plan that works. @throws WorkspaceError if no plan works. */
  async function choose(probe: ArgvCommand) {
    let reason = "";
    for (const plan of planTests) {
      const result = await runCommand(plan({ ...probe, argv: [SERVICE_NODE, "--version"], files: [] }), {
        timeoutMs: PROBE_TIMEOUT_MS,
        outputBytesMax: 4_096,
        floodBytesMax: 65_536,
        signal: new AbortController().signal,
      }).catch((error: unknown) => ({ exitCode: 1, output: errorText(error) }));
      if (result.exitCode === 0) return plan;
      reason = hidePaths(result.output.trim());
    }
    throw new WorkspaceError(
      `test runs cannot be confined on this machine: its Node or Playwright's packages cannot be shown to the sandbox (${reason})`,
    );
  }

  return async ({ files, script, packages, shown, proxyPort }, place) => {
    const { folder, user } = place;
    await sweepStages();
    const node = await realpath(process.execPath);
    const stage = await mkdtemp(join(tmpdir(), `${STAGE_PREFIX}${process.pid}-`));
    let socket: Awaited<ReturnType<typeof openProxySocket>> | undefined;
    const remove = async () => {
      await socket?.close();
      await rm(stage, { recursive: true, force: true });
    };
    try {
      // The unprivileged user can traverse this folder but not list it.
      await chmod(stage, 0o711);
      const egress = join(stage, "egress");
      socket = await openProxySocket(egress, proxyPort, user);
      const modules = packages.map((name) => ({ from: folderOf(name), to: `/node_modules/${name}` }));
      const all = [...modules, ...shown, { from: egress, to: dirname(TEST_PROXY_SOCKET) }];
      const command: ArgvCommand = {
        ...place,
        names: [],
        argv: [SERVICE_NODE, script],
        files,
        node,
        shown: all,
        reach: user ? await createMountPoints(stage, [folder, node, ...all.map(({ from }) => from)]) : [],
        hasUnlimitedAddressSpace: true,
      };
      chosen ??= await choose(command);
      return { plan: chosen(command), remove };
    } catch (error) {
      await remove();
      throw error;
    }
  };
}

const require = createRequire(import.meta.url);
const folderOf = (name: string) => dirname(require.resolve(`${name}/package.json`));

const STAGE_PREFIX = "agent-session-tests-";

/** Removes folders that processes of the service left behind because they were killed during a test run. */
async function sweepStages(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    // Folders of other programs may have this prefix, too. Only folders with a process id after the prefix are removed.
    const pid = name.startsWith(STAGE_PREFIX) && /^(\d+)-/.exec(name.slice(STAGE_PREFIX.length))?.[1];
    if (pid && !isRunning(Number(pid))) await rm(join(tmpdir(), name), { recursive: true, force: true });
  }
}

/** Creates an empty file or folder as the mount point of each path of the host. */
function createMountPoints(stage: string, paths: string[]): Promise<{ from: string; at: string }[]> {
  return Promise.all(
    paths.map(async (from, index) => {
      const at = join(stage, String(index));
      if ((await stat(from)).isDirectory()) await mkdir(at);
      else await writeFile(at, "");
      return { from, at };
    }),
  );
}
