import { stat } from "node:fs/promises";
import type { SandboxLimits } from "../sandbox-limits.ts";
import { WorkspaceError } from "../workspace-error.ts";
import {
  readMemory,
  readMemoryFileBytes,
  readProcessTree,
  readUnlinkedBytes,
  readWrittenBytes,
} from "./process-tree.ts";
import { type FolderSize, measureFolder } from "./walk-folder.ts";

/** A repeated check of a running command by its process id. If `check` returns a sentence, the command is killed. */
export type CommandWatch = { everyMs: number; check: (pid: number) => Promise<string | undefined> };

/** Enforces the limits of a workspace's files and of the processes of its commands. */
type WorkspaceQuota = {
  /** Counts a file of this size before it is written. @throws WorkspaceError if the file would exceed the quota. */
  reserve: (bytes: number) => Promise<void>;
  /** Measures the files before a command if their size is not known. */
  begin: () => Promise<void>;
  /** Returns the checks for a running command or test run. `limits` are the limits of that run. */
  watches: (limits: SandboxLimits) => CommandWatch[];
  /** Measures the files after a command. @returns a sentence if the workspace exceeds the quota because of the command. */
  settle: () => Promise<string | undefined>;
};

const inMebibytes = (bytes: number) => `${Math.round(bytes / 1_048_576)} MiB`;

/**
 * Keeps a workspace within its limits of bytes and files, and each command within its limits of memory and writes.
 * While a command runs, the files are measured, including deleted files that are still open. If the workspace is over
 * the quota before a command, the command may remove files, but it must not grow the workspace.
 *
 * @param onSize called with the size of the files after each change.
 */
export function createWorkspaceQuota(
  root: string,
  limits: SandboxLimits,
  onSize: (bytes: number) => void = () => {},
): WorkspaceQuota {
  const { workspaceBytesMax, workspaceEntriesMax } = limits;
  const bytesSentence = `the workspace is over its quota of ${workspaceBytesMax} bytes; remove files`;
  const entriesSentence = `the workspace is over its quota of ${workspaceEntriesMax} files and folders; remove some`;
  /** The size while no command runs; undefined until it is first needed. */
  let atRest: FolderSize | undefined;
  /** The size at the last check. In a workspace over the quota, a command must not make the files larger than this. */
  let baseline: FolderSize = { bytes: 0, entries: 0 };

  /** The size when the command began. After the command, the files may exceed the quota only up to this size. */
  let atBegin: FolderSize | undefined;

  const findExcess = ({ bytes, entries }: FolderSize, allowed: FolderSize): string | undefined => {
    if (entries > Math.max(workspaceEntriesMax, allowed.entries)) return entriesSentence;
    return bytes > Math.max(workspaceBytesMax, allowed.bytes) ? bytesSentence : undefined;
  };
  const measure = (allowed: FolderSize) =>
    measureFolder(root, {
      bytesMax: Math.max(workspaceBytesMax, allowed.bytes),
      entriesMax: Math.max(workspaceEntriesMax, allowed.entries),
    });
  /** Measures the whole size, even over the quota. */
  const measureAtRest = () => measure({ bytes: Number.POSITIVE_INFINITY, entries: Number.POSITIVE_INFINITY });

  async function checkFiles(): Promise<string | undefined> {
    const size = await measure(baseline);
    const excess = findExcess(size, baseline);
    if (excess !== undefined) return `ended: ${excess}`;
    baseline = size;
    return undefined;
  }
  async function checkProcesses(
    pid: number,
    { commandMemoryBytesMax, commandWriteBytesMax }: SandboxLimits,
  ): Promise<string | undefined> {
    const pids = await readProcessTree(pid);
    const inFiles = await readMemoryFileBytes(pids);
    if (inFiles + (await readMemory(pids, commandMemoryBytesMax - inFiles)) > commandMemoryBytesMax)
      return `ended: the processes of the command used more than ${inMebibytes(commandMemoryBytesMax)} of memory together`;
    if ((await readWrittenBytes(pids)) > commandWriteBytesMax)
      return `ended: the command wrote more than ${inMebibytes(commandWriteBytesMax)} to disk`;
    const unlinked = await readUnlinkedBytes(pids, (await stat(root)).dev);
    return unlinked > 0 && baseline.bytes + unlinked > workspaceBytesMax
      ? `ended: ${bytesSentence} (${unlinked} bytes are in files that were removed while open)`
      : undefined;
  }

  return {
    async reserve(bytes) {
      const isOver = ({ bytes: used, entries }: FolderSize) =>
        entries >= workspaceEntriesMax || used + bytes > workspaceBytesMax;
      // The stored size may be too large: it includes overwritten files and failed writes. So measure before refusing.
      if (atRest === undefined || isOver(atRest)) atRest = await measureAtRest();
      if (atRest.entries >= workspaceEntriesMax) throw new WorkspaceError(entriesSentence);
      if (isOver(atRest)) throw new WorkspaceError(bytesSentence);
      atRest = { bytes: atRest.bytes + bytes, entries: atRest.entries + 1 };
      onSize(atRest.bytes);
    },
    async begin() {
      atRest ??= await measureAtRest();
      baseline = atRest;
      atBegin = atRest;
    },
    watches: (runLimits) => [
      { everyMs: runLimits.measureEveryMs, check: checkFiles },
      { everyMs: runLimits.watchEveryMs, check: (pid) => checkProcesses(pid, runLimits) },
    ],
    async settle() {
      const before = atBegin ?? baseline;
      atRest = await measureAtRest();
      onSize(atRest.bytes);
      return findExcess(atRest, before);
    },
  };
}
