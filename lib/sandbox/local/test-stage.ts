import { chmod, mkdir, mkdtemp, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { TEST_PROXY_SOCKET, type TestProgram } from "../sandbox-service.ts";
import { WorkspaceError } from "../workspace-error.ts";
import { type ArgvCommand, type Confinement, SERVICE_NODE } from "./confinement.ts";
import { openProxySocket } from "./proxy-socket.ts";
import { type CommandPlan, runCommand } from "./run-command.ts";

/** Prepares a test program for a workspace's folder; `remove` takes away what was made for it. */
export type TestStage = (
  program: TestProgram,
  place: { folder: string; cpuSeconds: number },
) => Promise<{ plan: CommandPlan; remove: () => Promise<void> }>;

const PROBE_TIMEOUT_MS = 10_000;

/**
 * Test programs in the sandbox. Which way to show them the service's Node and the packages works on this machine is found
 * out by the first one.
 */
export function createTestStage({ planTests, owner }: Confinement & { works: true }): TestStage {
  let chosen: ((command: ArgvCommand) => CommandPlan) | undefined;

  /** @throws WorkspaceError when none works. */
  async function choose(probe: ArgvCommand) {
    let reason = "";
    for (const plan of planTests) {
      const result = await runCommand(plan({ ...probe, argv: [SERVICE_NODE, "--version"], files: [] }), {
        timeoutMs: PROBE_TIMEOUT_MS,
        outputBytesMax: 4_096,
        floodBytesMax: 65_536,
        signal: new AbortController().signal,
      }).catch((error: unknown) => ({ exitCode: 1, output: String(error) }));
      if (result.exitCode === 0) return plan;
      reason = result.output.trim();
    }
    throw new WorkspaceError(
      `test runs cannot be confined on this machine: its Node or Playwright's packages cannot be shown to the sandbox (${reason})`,
    );
  }

  return async ({ files, script, shown, proxyPort }, { folder, cpuSeconds }) => {
    const node = await realpath(process.execPath);
    const socket = await openProxySocket(proxyPort, owner);
    const places = await mkdtemp(join(tmpdir(), "agent-reach-"));
    const remove = async () => {
      await socket.close();
      await rm(places, { recursive: true, force: true });
    };
    try {
      const all = [...shown, { from: socket.folder, to: dirname(TEST_PROXY_SOCKET) }];
      const command: ArgvCommand = {
        folder,
        cpuSeconds,
        names: [],
        argv: [SERVICE_NODE, script],
        files: files.map(({ path }) => path),
        node,
        shown: all,
        reach: owner ? await makePlaces(places, [folder, node, ...all.map(({ from }) => from)]) : [],
        hasUnlimitedAddressSpace: true,
      };
      chosen ??= await choose(command);
      return { plan: { ...chosen(command), inputs: files.map(({ bytes }) => bytes) }, remove };
    } catch (error) {
      await remove();
      throw error;
    }
  };
}

/** Makes an empty file or folder for each piece of the host, to mount it over. */
async function makePlaces(parent: string, pieces: string[]): Promise<{ from: string; at: string }[]> {
  // The dropped user passes through, and finds what is mounted below by its name.
  await chmod(parent, 0o711);
  return Promise.all(
    pieces.map(async (from, index) => {
      const at = join(parent, String(index));
      if ((await stat(from)).isDirectory()) await mkdir(at);
      else await writeFile(at, "");
      return { from, at };
    }),
  );
}
