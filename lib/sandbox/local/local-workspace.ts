import { constants } from "node:fs";
import type { DiskFloor } from "#lib/disk/disk-floor.ts";
import { syncFileSystem } from "#lib/disk/durable.ts";
import type { ControlGroup } from "#lib/isolation/control-groups.ts";
import type { SandboxUser } from "#lib/isolation/sandbox-users.ts";
import { parseWorkspacePath } from "../parse-workspace-path.ts";
import { type SandboxLimits, withTestLimits } from "../sandbox-limits.ts";
import type { CommandResult, Workspace, WorkspaceEntry } from "../sandbox-service.ts";
import { WorkspaceError } from "../workspace-error.ts";
import type { CommandContext, ShellCommand } from "./box.ts";
import { watchCommand } from "./command-watch.ts";
import { createPathLocks } from "./path-locks.ts";
import { explainPathError, openPinned, pinInside } from "./pinned.ts";
import { removeInside } from "./remove-entry.ts";
import { addNote, type CommandPlan, runCommand } from "./run-command.ts";
import type { ProgramStage } from "./run-program.ts";
import { toStoredFile } from "./stored-file.ts";
import type { TestStage } from "./test-stage.ts";
import { walkFolder } from "./walk-folder.ts";
import { type CommandQuota, createWorkspaceQuota } from "./workspace-quota.ts";
import { writeInside } from "./write-file.ts";

type LocalWorkspaceOptions = {
  /** Canonical path of the workspace's existing folder. */
  root: string;
  limits: SandboxLimits;
  /** The free space that must stay on the disk. */
  disk: DiskFloor;
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
  /** @see Workspace.note */
  note?: string;
  /** Called with the total size of the files after each change. */
  onSize?: (bytes: number) => void;
};

/**
 * Creates the workspace of one session in a folder. No path leads out of this folder, whatever links commands create.
 */
export function createLocalWorkspace(options: LocalWorkspaceOptions): Workspace {
  const { root, limits, disk, owner, openGroup, shell, closing, onSize } = options;
  const quota = createWorkspaceQuota(root, limits, disk, onSize);
  const lock = createPathLocks();

  const createPlace = (group: ControlGroup | undefined, timeoutMs: number): CommandContext => ({
    folder: root,
    cpuSeconds: Math.ceil(timeoutMs / 1_000) + 1,
    user: owner,
    joinPath: group?.joinPath,
  });

  /**
   * Runs a command under the limits of the workspace. When it returns, the files that the command has changed are on
   * disk, so that they survive a power failure.
   */
  async function runLimited(
    plan: CommandPlan,
    { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
    files: CommandQuota,
    group: ControlGroup | undefined,
    runLimits = limits,
  ): Promise<CommandResult> {
    const killsBefore = await group?.readMemoryKills();
    let note: string | undefined;
    let result: CommandResult;
    try {
      result = await runCommand(plan, {
        timeoutMs,
        signal: AbortSignal.any([signal, closing]),
        outputBytesMax: limits.outputBytesMax,
        floodBytesMax: limits.floodBytesMax,
        watches: watchCommand(root, files, runLimits),
      });
    } finally {
      note = await files.finish();
    }
    const isKilled = killsBefore !== undefined && (await group?.readMemoryKills()) !== killsBefore;
    const notes = [
      ...(isKilled ? [MEMORY_KILL] : []),
      ...(note === undefined || result.output.includes(note) ? [] : [note]),
      ...((await syncFiles()) ? [] : [NOT_SYNCED]),
    ];
    return notes.reduce(addNote, result);
  }

  /** @returns whether the files are on disk. */
  const syncFiles = () =>
    syncFileSystem(root).then(
      () => true,
      () => false,
    );

  return {
    ...(options.note !== undefined && { note: options.note }),

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

    async readPart(path, { offset, limitBytes }) {
      const names = parseWorkspacePath(path);
      const pinned = await pinInside(root, names);
      try {
        const stat = await pinned.handle.stat({ bigint: true });
        if (stat.isDirectory()) throw new WorkspaceError(`path: ${path} is a folder`);
        if (!stat.isFile()) throw new WorkspaceError(`path: ${path} is not a regular file`);
        const stored = toStoredFile(stat);
        const length = Math.max(0, Math.min(limitBytes, stored.sizeBytes - offset));
        if (length === 0) return { bytes: Buffer.alloc(0), file: stored };
        const file = await openPinned(pinned, constants.O_RDONLY);
        try {
          const buffer = Buffer.alloc(length);
          const { bytesRead } = await file.read(buffer, 0, length, offset);
          return { bytes: buffer.subarray(0, bytesRead), file: stored };
        } finally {
          await file.close();
        }
      } catch (error) {
        throw explainPathError(error, names);
      } finally {
        await pinned.handle.close();
      }
    },

    async writeFile(path, bytes, expected) {
      const names = parseWorkspacePath(path);
      if (names.length === 0) throw new WorkspaceError("path: must name a file");
      if (bytes.byteLength > limits.writeBytesMax) {
        throw new WorkspaceError(`content: must be at most ${limits.writeBytesMax} bytes`);
      }
      return lock(names.join("/"), async () => {
        await quota.reserve(bytes.byteLength);
        return writeInside(root, names, bytes, owner, expected);
      });
    },

    async remove(path, expected) {
      const names = parseWorkspacePath(path);
      if (names.length === 0) throw new WorkspaceError("path: must name a file");
      await lock(names.join("/"), () => removeInside(root, names, expected));
      await quota.remeasure();
    },

    async list(path, { recursive, limit, all = false, times = false, closed = [] }) {
      const entries: WorkspaceEntry[] = [];
      for await (const entry of walkFolder(root, parseWorkspacePath(path), { recursive, all, closed })) {
        if (entries.length === limit) break;
        const { unreadable } = entry;
        if (!unreadable || all) {
          const type = unreadable ? "other" : entry.type;
          const { path, sizeBytes, modifiedAtMs } = entry;
          entries.push({ path, type, sizeBytes, ...(times && { modifiedAtMs }) });
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

      const files = await quota.begin();
      const group = await openGroup("commands");
      const { isRemovalOnly } = files;
      const plan = shell.plan({ ...createPlace(group, timeoutMs), names, command, isRemovalOnly });
      return runLimited(plan, { timeoutMs, signal }, files, group);
    },

    async runProgram(program, { timeoutMs, signal }) {
      if ("refusal" in shell) throw new WorkspaceError(shell.refusal);
      for (const { path } of program.files) parseWorkspacePath(path);
      const files = await quota.begin({ mustWrite: true });
      const group = await openGroup("commands");
      const { plan, remove } = await shell.stage(program, createPlace(group, timeoutMs));
      try {
        return await runLimited(plan, { timeoutMs, signal }, files, group);
      } finally {
        await remove();
      }
    },

    async runTests(program, { timeoutMs, signal }) {
      if ("refusal" in shell) throw new WorkspaceError(shell.refusal);
      const files = await quota.begin({ mustWrite: true });
      const group = await openGroup("tests");
      const { plan, remove } = await shell.stageTests(program, createPlace(group, timeoutMs));
      try {
        return await runLimited(plan, { timeoutMs, signal }, files, group, withTestLimits(limits));
      } finally {
        await remove();
      }
    },
  };
}

const MEMORY_KILL = "the kernel ended a process, because the session's commands used all of their memory";
const NOT_SYNCED = "the changed files could not be written to disk, so a power failure would lose them";
