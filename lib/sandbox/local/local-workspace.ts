import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { chown, lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ControlGroup } from "#lib/isolation/control-groups.ts";
import type { SandboxUser } from "#lib/isolation/sandbox-users.ts";
import { parseWorkspacePath } from "../parse-workspace-path.ts";
import { type SandboxLimits, withTestLimits } from "../sandbox-limits.ts";
import type { CommandResult, Workspace, WorkspaceEntry } from "../sandbox-service.ts";
import { WorkspaceError } from "../workspace-error.ts";
import type { Place, ShellCommand } from "./box.ts";
import { createWorkspaceQuota } from "./command-watch.ts";
import { explainPathError, openPinned, type Pinned, pinChildFolder, pinInside } from "./pinned.ts";
import { addNote, type CommandPlan, runCommand } from "./run-command.ts";
import type { ProgramStage } from "./run-program.ts";
import type { TestStage } from "./test-stage.ts";
import { walkFolder } from "./walk-folder.ts";

type LocalWorkspaceOptions = {
  /** Canonical path of the workspace's existing folder. */
  root: string;
  limits: SandboxLimits;
  /** The user that owns the files and runs the commands, if it is not the service's own user. */
  owner: SandboxUser | undefined;
  /** Opens the control group for commands or test runs; undefined without control groups. */
  openGroup: (kind: "commands" | "tests") => Promise<ControlGroup | undefined>;
  /** The means to start commands, or a sentence that says why commands cannot run. */
  shell:
    | { plan: (command: ShellCommand) => CommandPlan; stage: ProgramStage; stageTests: TestStage }
    | { refusal: string };
  /** Fires when the workspace is removed or the service shuts down. The workspace's commands are then killed. */
  closing: AbortSignal;
  /** Called with the total size of the files after each change. */
  onSize?: (bytes: number) => void;
};

/**
 * Creates the workspace of one session in a folder. No path leads out of this folder, whatever links commands create.
 */
export function createLocalWorkspace(options: LocalWorkspaceOptions): Workspace {
  const { root, limits, owner, openGroup, shell, closing, onSize } = options;
  const quota = createWorkspaceQuota(root, limits, onSize);

  const createPlace = (group: ControlGroup | undefined, timeoutMs: number): Place => ({
    folder: root,
    cpuSeconds: Math.ceil(timeoutMs / 1_000) + 1,
    user: owner,
    joinPath: group?.joinPath,
  });

  /** Runs a command under the limits of the workspace. */
  async function runLimited(
    plan: CommandPlan,
    { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
    group: ControlGroup | undefined,
    runLimits = limits,
  ): Promise<CommandResult> {
    await quota.begin();
    const killsBefore = await group?.readMemoryKills();
    let excess: string | undefined;
    let result: CommandResult;
    try {
      result = await runCommand(plan, {
        timeoutMs,
        signal: AbortSignal.any([signal, closing]),
        outputBytesMax: limits.outputBytesMax,
        floodBytesMax: limits.floodBytesMax,
        watches: quota.watches(runLimits),
      });
    } finally {
      excess = await quota.settle();
    }
    const killed = killsBefore !== undefined && (await group?.readMemoryKills()) !== killsBefore;
    const resultWithKill = killed ? addNote(result, MEMORY_KILL) : result;
    return excess === undefined || result.output.includes(excess)
      ? resultWithKill
      : addNote(resultWithKill, excess);
  }

  return {
    async readFile(path, limitBytes) {
      const names = parseWorkspacePath(path);
      const pinned = await pinInside(root, names);
      try {
        const stat = await pinned.handle.stat();
        if (stat.isDirectory()) throw new WorkspaceError(`path: ${path} is a folder`);
        if (!stat.isFile()) throw new WorkspaceError(`path: ${path} is not a regular file`);
        const file = await openPinned(pinned, constants.O_RDONLY);
        try {
          const buffer = Buffer.alloc(Math.min(limitBytes, stat.size));
          const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
          return { bytes: buffer.subarray(0, bytesRead), totalBytes: stat.size };
        } finally {
          await file.close();
        }
      } catch (error) {
        throw explainPathError(error, names);
      } finally {
        await pinned.handle.close();
      }
    },

    async writeFile(path, bytes) {
      const names = parseWorkspacePath(path);
      const name = names.at(-1);
      if (name === undefined) throw new WorkspaceError("path: must name a file");
      if (bytes.byteLength > limits.writeBytesMax) {
        throw new WorkspaceError(`content: must be at most ${limits.writeBytesMax} bytes`);
      }
      await quota.reserve(bytes.byteLength);
      const folder = await createFolders(root, names.slice(0, -1), owner);
      try {
        await replaceFile(folder, name, bytes, owner);
      } catch (error) {
        throw explainPathError(error, names);
      } finally {
        await folder.handle.close();
      }
    },

    async list(path, { recursive, limit, all = false, closed = [] }) {
      const entries: WorkspaceEntry[] = [];
      for await (const entry of walkFolder(root, parseWorkspacePath(path), { recursive, all, closed })) {
        if (entries.length === limit) break;
        const { unreadable } = entry;
        if (!unreadable || all) {
          const type = unreadable ? "other" : entry.type;
          entries.push({ path: entry.path, type, sizeBytes: entry.sizeBytes });
        }
      }
      return entries;
    },

    async run(command, { timeoutMs, signal, cwd }) {
      if ("refusal" in shell) throw new WorkspaceError(shell.refusal);
      const names = parseWorkspacePath(cwd ?? "");
      const start = await pinInside(root, names);
      const isFolder = await start.handle.stat().then((stat) => stat.isDirectory());
      await start.handle.close();
      if (!isFolder) throw new WorkspaceError(`cwd: ${cwd} is not a folder`);

      const group = await openGroup("commands");
      const plan = shell.plan({ ...createPlace(group, timeoutMs), names, command });
      return runLimited(plan, { timeoutMs, signal }, group);
    },

    async runProgram(program, { timeoutMs, signal }) {
      if ("refusal" in shell) throw new WorkspaceError(shell.refusal);
      for (const { path } of program.files) parseWorkspacePath(path);
      const group = await openGroup("commands");
      const { plan, remove } = await shell.stage(program, createPlace(group, timeoutMs));
      try {
        return await runLimited(plan, { timeoutMs, signal }, group);
      } finally {
        await remove();
      }
    },

    async runTests(program, { timeoutMs, signal }) {
      if ("refusal" in shell) throw new WorkspaceError(shell.refusal);
      const group = await openGroup("tests");
      const { plan, remove } = await shell.stageTests(program, createPlace(group, timeoutMs));
      try {
        return await runLimited(plan, { timeoutMs, signal }, group, withTestLimits(limits));
      } finally {
        await remove();
      }
    },
  };
}

const MEMORY_KILL = "the kernel ended a process, because the session's commands used all of their memory";

/**
 * Opens the folder at `names` as {@link Pinned}, and creates missing folders. Opens each level through its parent
 * folder, so that on Linux no link is followed.
 */
async function createFolders(root: string, names: string[], owner: SandboxUser | undefined): Promise<Pinned> {
  let folder = await pinInside(root, []);
  for (const [index, name] of names.entries()) {
    const parent = folder;
    try {
      const isNew = await mkdir(join(parent.via, name), { mode: 0o755 }).then(
        () => true,
        () => false,
      );
      folder = await pinChildFolder(parent, name);
      if (isNew && owner) await chown(folder.via, owner.uid, owner.gid);
    } catch (error) {
      if (folder !== parent) await folder.handle.close();
      throw explainPathError(error, names.slice(0, index + 1));
    } finally {
      await parent.handle.close();
    }
  }
  return folder;
}

/**
 * Writes a temporary file and renames it to the target. Readers never see a partial file. If the target is a link, the
 * link itself is replaced.
 */
async function replaceFile(folder: Pinned, name: string, bytes: Uint8Array, owner: SandboxUser | undefined) {
  const target = join(folder.via, name);
  const temporary = join(folder.via, `.${randomUUID()}.tmp`);
  const before = await lstat(target).catch(() => undefined);
  const file = await open(temporary, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
  try {
    try {
      await file.writeFile(bytes);
      if (owner) await file.chown(owner.uid, owner.gid);
      await file.chmod(before?.isFile() ? before.mode & 0o777 : 0o644);
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
