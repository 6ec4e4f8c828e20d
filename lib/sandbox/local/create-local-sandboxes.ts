import { chmod, mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { StartupStatus } from "#db/schema/unions.ts";
import { createDiskFloor, type DiskFloor } from "#lib/disk/disk-floor.ts";
import { syncFolders } from "#lib/disk/durable.ts";
import { SESSION_ID_PATTERN } from "#lib/session/new-id.ts";
import { removeFolder } from "#lib/session/removal/remove-folder.ts";
import { type SandboxLimits, sandboxLimits } from "../sandbox-limits.ts";
import type { SandboxService, Workspace } from "../sandbox-service.ts";
import { WorkspaceError } from "../workspace-error.ts";
import { changeOwner } from "./change-owner.ts";
import { chooseShell, describeSandbox, type ShellOptions } from "./choose-shell.ts";
import { createLocalWorkspace } from "./local-workspace.ts";

export type LocalSandboxOptions = ShellOptions & {
  /** The service's data folder. Workspaces are its subfolders `workspaces/<session>`. */
  dataDir: string;
  /** The free space that must stay on the disk of the data folder. Default: no limit. */
  disk?: DiskFloor;
  /** Stores a session's startup status, which the agent status shows. */
  onStartupStatus: (sessionId: string, status: StartupStatus) => Promise<void>;
  /**
   * Reads this status. If it is `ready` although the workspace has no folder here, the folder is elsewhere or lost. By
   * default, nothing is known about it.
   */
  readStartupStatus?: (sessionId: string) => Promise<StartupStatus | undefined>;
  /** Called with the size of a session's workspace after each change; only workspaces on this machine are measured. */
  onSize?: ((sessionId: string, bytes: number) => void) | undefined;
  logger: {
    info: (fields: object, message: string) => void;
    warn: (fields: object, message: string) => void;
  };
  limits?: Partial<SandboxLimits>;
  /** After how many milliseconds without use a workspace is dropped from memory. Its files stay. Default: 30 minutes. */
  evictAfterIdleMs?: number;
};

type OpenWorkspace = {
  workspace: Promise<Workspace>;
  closing: AbortController;
  running: Set<Promise<unknown>>;
  /** When `open` last returned the workspace, in milliseconds of `performance.now`. */
  usedAtMs: number;
};

const REST_MS = 30 * 60_000;

/** Creates sandboxes on this machine. Checks once, at their creation, whether commands can be confined. */
export async function createLocalSandboxes(options: LocalSandboxOptions): Promise<SandboxService> {
  const { kind, dataDir, disk, onStartupStatus, onSize, logger, evictAfterIdleMs = REST_MS } = options;
  const readStatus = options.readStartupStatus ?? (async () => undefined);
  const limits = { ...sandboxLimits, ...options.limits };
  const workspaces = join(dataDir, "workspaces");
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // The users that commands run as can traverse this folder but not list it, so they cannot find other workspaces.
  await mkdir(workspaces, { recursive: true, mode: 0o711 });
  const confinement = await chooseShell(options, workspaces, limits);
  const described = describeSandbox(kind, confinement);
  const isSafe = kind === "local" && confinement.works;
  (isSafe ? logger.info : logger.warn).call(logger, described, "the sandbox was set up");
  const isolation = confinement.works ? confinement.isolation : undefined;
  const shell = confinement.works ? confinement : { refusal: described.detail };
  const open = new Map<string, OpenWorkspace>();

  function dropResting(): void {
    const since = performance.now() - evictAfterIdleMs;
    for (const [sessionId, { usedAtMs, running }] of open)
      if (usedAtMs <= since && running.size === 0) open.delete(sessionId);
  }
  const sweeper = setInterval(dropResting, Math.min(evictAfterIdleMs, 60_000)).unref();

  async function start(
    sessionId: string,
    life: Pick<OpenWorkspace, "closing" | "running">,
  ): Promise<Workspace> {
    if (!SESSION_ID_PATTERN.test(sessionId)) throw new WorkspaceError("there is no session of this id");
    const wasReady = (await readStatus(sessionId)) === "ready";
    await onStartupStatus(sessionId, "starting");
    try {
      const folder = join(workspaces, sessionId);
      const owner = await isolation?.users?.of(sessionId);
      const isNew = (await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined;
      await chmod(folder, 0o700);
      if (owner) await changeOwner(folder, owner);
      await syncFolders(dataDir, workspaces);
      const workspace = createLocalWorkspace({
        root: await realpath(folder),
        limits,
        disk: disk ?? createDiskFloor(dataDir, 0),
        owner,
        openGroup: async (use) => isolation?.openGroup(sessionId, use),
        shell,
        closing: life.closing.signal,
        ...(isNew && wasReady && { note: MOVED }),
        ...(onSize && { onSize: (bytes) => onSize(sessionId, bytes) }),
      });
      await onStartupStatus(sessionId, "ready");
      return followRuns(workspace, life.running);
    } catch (error) {
      await onStartupStatus(sessionId, "error");
      throw error;
    }
  }

  async function stop(sessionId: string): Promise<void> {
    const entry = open.get(sessionId);
    open.delete(sessionId);
    entry?.closing.abort();
    await entry?.workspace.catch(() => {});
    await Promise.allSettled(entry?.running ?? []);
    await isolation?.removeGroups(sessionId);
  }

  return {
    open(sessionId) {
      const existing = open.get(sessionId);
      if (existing) {
        existing.usedAtMs = performance.now();
        return existing.workspace;
      }
      const life = { closing: new AbortController(), running: new Set<Promise<unknown>>() };
      const workspace = start(sessionId, life);
      const created: OpenWorkspace = { ...life, workspace, usedAtMs: performance.now() };
      open.set(sessionId, created);
      // A workspace that could not be opened is dropped, so that the next call retries.
      created.workspace.catch(() => open.get(sessionId) === created && open.delete(sessionId));
      return created.workspace;
    },
    describe: () => described,
    async remove(sessionId) {
      await stop(sessionId);
      if (!SESSION_ID_PATTERN.test(sessionId)) return;
      await removeFolder(join(workspaces, sessionId));
      isolation?.users?.release(sessionId);
    },
    async close() {
      clearInterval(sweeper);
      await Promise.all([...open.keys()].map(stop));
      await isolation?.close();
    },
  };
}

const MOVED =
  "the session's workspace was used before, but its files are not here: they are in the data folder of another process of the service, or lost. Files that were written there are missing";

/** Records the running commands, so that the removal of a workspace can wait for their end. */
function followRuns(workspace: Workspace, running: Set<Promise<unknown>>): Workspace {
  const track = <Result>(run: Promise<Result>): Promise<Result> => {
    running.add(run);
    const forget = () => running.delete(run);
    run.then(forget, forget);
    return run;
  };
  return {
    ...workspace,
    run: (...args) => track(workspace.run(...args)),
    runProgram: (...args) => track(workspace.runProgram(...args)),
    runTests: (...args) => track(workspace.runTests(...args)),
  };
}
