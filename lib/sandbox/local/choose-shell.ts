import { type ControlGroup, type FoundGroups, findControlGroups } from "#lib/isolation/control-groups.ts";
import { openSandboxUsers } from "#lib/isolation/sandbox-users.ts";
import { errorText, hidePaths } from "#lib/text/error-text.ts";
import { groupLimits, type SandboxLimits, withTestLimits } from "../sandbox-limits.ts";
import type { SandboxKind } from "../sandbox-service.ts";
import { WorkspaceError } from "../workspace-error.ts";
import { type ShellCommand, systemPath } from "./box.ts";
import { type Confinement, probeConfinement } from "./confinement.ts";
import { type CommandPlan, runCommand } from "./run-command.ts";
import { createConfinedStage, type ProgramStage, stageUnconfined } from "./run-program.ts";
import { createTestStage, type TestStage } from "./test-stage.ts";
import { unconfinedPlan } from "./unconfined-plan.ts";
import { createWorkspaceUsers, type WorkspaceUsers } from "./workspace-users.ts";

const PROBE_TIMEOUT_MS = 10_000;

export type ShellOptions = {
  kind: SandboxKind;
  /** Search path, as in PATH, for the programs that confine commands; the system's folders by default. */
  launcherPath?: string;
  /** Finds control groups; by default, finds the groups of this machine. */
  findGroups?: () => Promise<FoundGroups>;
};

/** Isolates the sessions of this machine from each other, in addition to the sandbox of each command. */
type SessionIsolation = {
  /** The user of each workspace; undefined if the service is not root. */
  users: WorkspaceUsers | undefined;
  openGroup: (sessionId: string, use: "commands" | "tests") => Promise<ControlGroup | undefined>;
  removeGroups: (sessionId: string) => Promise<void>;
  close: () => Promise<void>;
  /** A description of the isolation in one line. */
  line: string;
};

/** The means to run commands and programs on this machine, or the reason why they cannot run. */
type LocalShell =
  | {
      works: true;
      detail: string;
      isolation: SessionIsolation | undefined;
      plan: (command: ShellCommand) => CommandPlan;
      stage: ProgramStage;
      stageTests: TestStage;
    }
  | { works: false; reason: string };

/** Checks how commands can run on this machine. */
export async function chooseShell(
  { kind, launcherPath, findGroups = findControlGroups }: ShellOptions,
  workspaces: string,
  limits: SandboxLimits,
): Promise<LocalShell> {
  if (kind === "unconfined") {
    const detail = "commands run WITHOUT confinement";
    return {
      works: true,
      detail,
      isolation: undefined,
      plan: unconfinedPlan,
      stage: stageUnconfined,
      stageTests: refuseTests,
    };
  }
  const confinement = await probeConfinement(workspaces, limits, launcherPath ?? systemPath);
  if (!confinement.works) return confinement;
  const stage = createConfinedStage(confinement, workspaces);
  const isolation = await isolateSessions(confinement, workspaces, limits, await findGroups());
  return { ...confinement, isolation, stage, stageTests: createTestStage(confinement) };
}

async function isolateSessions(
  confinement: Confinement & { works: true },
  workspaces: string,
  limits: SandboxLimits,
  found: FoundGroups,
): Promise<SessionIsolation> {
  const { sharedUser, isFiltered } = confinement;
  const machineUsers = sharedUser && (await openSandboxUsers());
  const groupsOrReason = await tryGroups(confinement, workspaces, limits, found);
  const groups = groupsOrReason.works ? groupsOrReason.groups : undefined;
  const user = machineUsers
    ? "a user per session"
    : sharedUser
      ? "one user for all sessions (no free user ids exist in this container)"
      : "the service's own user for all sessions (only root can start processes as others)";
  const parts = [
    "bubblewrap: yes",
    `system calls filtered: ${isFiltered ? "yes" : "NO"}`,
    `control groups: ${groupsOrReason.works ? "yes" : `no (${groupsOrReason.reason})`}`,
    `users: ${user}`,
  ];
  const users = sharedUser && createWorkspaceUsers(workspaces, machineUsers, sharedUser);
  return {
    users,
    async openGroup(sessionId, use) {
      const own = use === "tests" ? withTestLimits(limits) : limits;
      return groups?.open(`${sessionId}-${use}`, groupLimits(own));
    },
    async removeGroups(sessionId) {
      await Promise.all(["commands", "tests"].map((use) => groups?.remove(`${sessionId}-${use}`)));
    },
    async close() {
      users?.close();
      await groups?.close();
    },
    line: parts.join("; "),
  };
}

/** Runs a probe command in a group, because some machines allow creating groups but not joining them. */
async function tryGroups(
  { plan, sharedUser: user }: Confinement & { works: true },
  folder: string,
  limits: SandboxLimits,
  found: FoundGroups,
): Promise<FoundGroups> {
  if (!found.works) return found;
  const { groups } = found;
  try {
    const { joinPath } = await groups.open("probe", groupLimits(limits));
    const command = plan({ folder, cpuSeconds: 10, user, joinPath, names: [], command: "exit 42" });
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
    const bounds = { timeoutMs: PROBE_TIMEOUT_MS, signal, outputBytesMax: 4_096, floodBytesMax: 65_536 };
    const { exitCode, output } = await runCommand(command, bounds);
    if (exitCode !== 42) throw new Error(`a command in one said "${output.trim()}"`);
    await groups.remove("probe");
    return found;
  } catch (error) {
    await groups.close();
    return { works: false, reason: errorText(error) };
  }
}

/** Refuses test runs, because without bubblewrap tests could reach the network and the files of the service. */
const refuseTests: TestStage = async () => {
  throw new WorkspaceError(
    "test runs need bubblewrap: with SANDBOX=unconfined nothing would confine the tests",
  );
};

/** Describes the sandbox to the operator and to agents. */
export function describeSandbox(kind: SandboxKind, confinement: LocalShell) {
  if (!confinement.works) {
    const detail =
      `commands cannot run here: ${hidePaths(confinement.reason)}. Files can be read and written. Install bubblewrap ` +
      "(apt-get install bubblewrap), or set SANDBOX=unconfined on a machine for development.";
    return { kind, canRunCommands: false, detail, isolation: "bubblewrap: NO; no commands run" };
  }
  const { detail, isolation } = confinement;
  const none = "NONE: commands run as the service's own user (SANDBOX=unconfined)";
  return { kind, canRunCommands: true, detail, isolation: isolation?.line ?? none };
}
