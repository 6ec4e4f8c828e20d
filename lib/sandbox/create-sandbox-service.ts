import { chmod, chown, mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { StartupStatus } from "#db/schema/unions.ts";
import { SESSION_ID_PATTERN } from "#lib/session/new-id.ts";
import { removeFolder } from "#lib/session/removal/remove-folder.ts";
import { type ShellCommand, systemPath } from "./local/box.ts";
import { type Owner, probeConfinement } from "./local/confinement.ts";
import { createLocalWorkspace } from "./local/local-workspace.ts";
import type { CommandPlan } from "./local/run-command.ts";
import { createConfinedStage, type ProgramStage, stageUnconfined } from "./local/run-program.ts";
import { createTestStage, type TestStage } from "./local/test-stage.ts";
import { unconfinedPlan } from "./local/unconfined-plan.ts";
import { type SandboxLimits, sandboxLimits } from "./sandbox-limits.ts";
import type { SandboxService, Workspace } from "./sandbox-service.ts";
import { createVercelBoxes } from "./vercel/vercel-box.ts";
import { createVercelSandboxes } from "./vercel/vercel-sandboxes.ts";
import { WorkspaceError } from "./workspace-error.ts";

/** Source: `wire.md`, Environment, `SANDBOX`. */
export type SandboxKind = "local" | "none" | "unconfined" | "vercel";

type SandboxOptions = {
  kind: SandboxKind;
  /** The service's data folder; workspaces lie below it in `workspaces/<session>`. */
  dataDir: string;
  /** Stores a session's startup status, which the agent status shows. */
  onStartupStatus: (sessionId: string, status: StartupStatus) => Promise<void>;
  /** Called with the size of a session's workspace after each change; only workspaces on this machine are measured. */
  onSize?: ((sessionId: string, bytes: number) => void) | undefined;
  logger: {
    info: (fields: object, message: string) => void;
    warn: (fields: object, message: string) => void;
  };
  limits?: Partial<SandboxLimits>;
  /** Where the programs that confine commands are looked for; the system's folders by default. */
  launcherPath?: string;
};

/**
 * Makes the sandboxes of this deployment. Whether commands can be confined is found out once, here.
 *
 * @throws Error with a sentence for a kind that is not available.
 */
export async function createSandboxService(options: SandboxOptions): Promise<SandboxService> {
  switch (options.kind) {
    case "none":
      return createNoSandbox();
    case "vercel":
      return createVercelSandboxes({
        boxes: createVercelBoxes(),
        limits: { ...sandboxLimits, ...options.limits },
        onStartupStatus: options.onStartupStatus,
      });
    case "local":
    case "unconfined":
      return createLocalSandboxes(options);
  }
}

function createNoSandbox(): SandboxService {
  const detail = "this deployment has no sandbox (SANDBOX=none)";
  return {
    open: async () => {
      throw new WorkspaceError(detail);
    },
    describe: () => ({ kind: "none", canRunCommands: false, detail }),
    remove: async () => {},
    close: async () => {},
  };
}

type OpenWorkspace = {
  workspace: Promise<Workspace>;
  closing: AbortController;
  running: Set<Promise<unknown>>;
};

async function createLocalSandboxes(options: SandboxOptions): Promise<SandboxService> {
  const { kind, dataDir, onStartupStatus, onSize, logger } = options;
  const limits = { ...sandboxLimits, ...options.limits };
  const workspaces = join(dataDir, "workspaces");
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // Passable but not listable for the user that commands run as: each finds its own folder, and no other.
  await mkdir(workspaces, { recursive: true, mode: 0o711 });
  const confinement = await chooseShell(options, workspaces, limits);
  const described = describeSandbox(kind, confinement);
  const isSafe = kind === "local" && confinement.works;
  (isSafe ? logger.info : logger.warn).call(logger, described, "sandbox");
  const owner = confinement.works ? confinement.owner : undefined;
  const shell = confinement.works ? confinement : { refusal: described.detail };
  const open = new Map<string, OpenWorkspace>();

  async function start(sessionId: string, life: Omit<OpenWorkspace, "workspace">): Promise<Workspace> {
    if (!SESSION_ID_PATTERN.test(sessionId)) throw new WorkspaceError("there is no session of this id");
    await onStartupStatus(sessionId, "starting");
    try {
      const folder = join(workspaces, sessionId);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await chmod(folder, 0o700);
      if (owner) await chown(folder, owner.uid, owner.gid);
      const workspace = createLocalWorkspace({
        root: await realpath(folder),
        limits,
        owner,
        shell,
        closing: life.closing.signal,
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
  }

  return {
    open(sessionId) {
      const known = open.get(sessionId);
      if (known) return known.workspace;
      const life = { closing: new AbortController(), running: new Set<Promise<unknown>>() };
      const made: OpenWorkspace = { ...life, workspace: start(sessionId, life) };
      open.set(sessionId, made);
      // A workspace that could not be opened is tried again at the next need of it.
      made.workspace.catch(() => open.get(sessionId) === made && open.delete(sessionId));
      return made.workspace;
    },
    describe: () => described,
    async remove(sessionId) {
      await stop(sessionId);
      if (SESSION_ID_PATTERN.test(sessionId)) await removeFolder(join(workspaces, sessionId));
    },
    async close() {
      await Promise.all([...open.keys()].map(stop));
    },
  };
}

/** How commands and programs run on this machine, or why they cannot. */
type LocalShell =
  | {
      works: true;
      detail: string;
      owner: Owner | undefined;
      plan: (command: ShellCommand) => CommandPlan;
      stage: ProgramStage;
      stageTests: TestStage;
    }
  | { works: false; reason: string };

async function chooseShell(
  { kind, launcherPath }: SandboxOptions,
  workspaces: string,
  limits: SandboxLimits,
): Promise<LocalShell> {
  if (kind === "unconfined") {
    const detail = "commands run WITHOUT confinement";
    return {
      works: true,
      detail,
      owner: undefined,
      plan: unconfinedPlan,
      stage: stageUnconfined,
      stageTests: refuseTests,
    };
  }
  const confinement = await probeConfinement(workspaces, limits, launcherPath ?? systemPath);
  if (!confinement.works) return confinement;
  const stage = createConfinedStage(confinement.plan, workspaces);
  return { ...confinement, stage, stageTests: createTestStage(confinement) };
}

/** Without bubblewrap the tests would have the network and files of the service. */
const refuseTests: TestStage = async () => {
  throw new WorkspaceError(
    "test runs need bubblewrap: with SANDBOX=unconfined nothing would confine the tests",
  );
};

function describeSandbox(kind: SandboxKind, confinement: LocalShell) {
  const detail = confinement.works
    ? confinement.detail
    : `commands cannot run here: ${confinement.reason}. Files can be read and written. Install bubblewrap ` +
      "(apt-get install bubblewrap), or set SANDBOX=unconfined on a machine for development.";
  return { kind, canRunCommands: confinement.works, detail };
}

/** Remembers the commands that run, so that removing a workspace can wait for their end. */
function followRuns(workspace: Workspace, running: Set<Promise<unknown>>): Workspace {
  const follow = <Result>(run: Promise<Result>): Promise<Result> => {
    running.add(run);
    const forget = () => running.delete(run);
    run.then(forget, forget);
    return run;
  };
  return {
    ...workspace,
    run: (...args) => follow(workspace.run(...args)),
    runProgram: (...args) => follow(workspace.runProgram(...args)),
    runTests: (...args) => follow(workspace.runTests(...args)),
  };
}
