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

/** A repeated check of a running command, given its process id; a sentence ends the command. */
export type CommandWatch = { everyMs: number; check: (pid: number) => Promise<string | undefined> };

/** What a workspace's files may take, and what a command's processes may use. */
type WorkspaceQuota = {
  /** Counts bytes that are about to be written. @throws WorkspaceError when they would exceed the quota. */
  reserve: (bytes: number) => Promise<void>;
  /** Measures before a command, where the size is not known. */
  begin: () => Promise<void>;
  /** The checks of a running command, or of a test run, by the limits for it. */
  watches: (limits: SandboxLimits) => CommandWatch[];
  /** Measures after a command. @returns a sentence when the command has taken the workspace over its quota. */
  settle: () => Promise<string | undefined>;
};

const inMebibytes = (bytes: number) => `${Math.round(bytes / 1_048_576)} MiB`;

/**
 * Keeps a workspace within its limits of bytes and files, and each command within its total memory. The files are
 * measured while a command runs, together with files that have lost their name but are still open. A command that
 * begins over the quota may go on, so that files can be removed, but must not grow the workspace.
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
  /** The size when no command runs; unknown until it is needed. */
  let atRest: FolderSize | undefined;
  /** The size that a running command must not exceed where it is over the quota. */
  let baseline: FolderSize = { bytes: 0, entries: 0 };

  const findExcess = ({ bytes, entries }: FolderSize, allowed: FolderSize): string | undefined => {
    if (entries > Math.max(workspaceEntriesMax, allowed.entries)) return entriesSentence;
    return bytes > Math.max(workspaceBytesMax, allowed.bytes) ? bytesSentence : undefined;
  };
  const measure = (allowed: FolderSize) =>
    measureFolder(root, {
      bytesMax: Math.max(workspaceBytesMax, allowed.bytes),
      entriesMax: Math.max(workspaceEntriesMax, allowed.entries),
    });
  /** The whole size, also over the quota. */
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
      atRest ??= await measureAtRest();
      if (atRest.entries >= workspaceEntriesMax) throw new WorkspaceError(entriesSentence);
      if (atRest.bytes + bytes > workspaceBytesMax) throw new WorkspaceError(bytesSentence);
      atRest = { bytes: atRest.bytes + bytes, entries: atRest.entries + 1 };
      onSize(atRest.bytes);
    },
    async begin() {
      atRest ??= await measureAtRest();
      baseline = atRest;
    },
    watches: (own) => [
      { everyMs: own.measureEveryMs, check: checkFiles },
      { everyMs: own.watchEveryMs, check: (pid) => checkProcesses(pid, own) },
    ],
    async settle() {
      const before = atRest ?? baseline;
      atRest = await measureAtRest();
      onSize(atRest.bytes);
      return findExcess(atRest, before);
    },
  };
}
