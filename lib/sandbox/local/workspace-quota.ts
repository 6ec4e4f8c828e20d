import type { DiskFloor } from "#lib/disk/disk-floor.ts";
import type { SandboxLimits } from "../sandbox-limits.ts";
import { WorkspaceError } from "../workspace-error.ts";
import { type FolderSize, measureFolder } from "./walk-folder.ts";

/** Enforces the limits of a workspace's files, and the free space that must stay on the disk. */
type WorkspaceQuota = {
  /** Counts a file of this size before it is written. @throws WorkspaceError if the file must not be written. */
  reserve: (bytes: number) => Promise<void>;
  /** Measures the files after one was removed. */
  remeasure: () => Promise<void>;
  /**
   * Begins a command. @throws WorkspaceError if the disk has too little free space, or if the workspace is over its
   * quota and the command `mustWrite`.
   */
  begin: (options?: { mustWrite: boolean }) => Promise<CommandQuota>;
};

/** The quota of the files while a command runs. */
export type CommandQuota = {
  /**
   * Whether the workspace was over its quota when the command began. The command must then run without being able to
   * write to files, so that it can only remove some.
   */
  isRemovalOnly: boolean;
  /** Measures the files. @returns why the command has to end, or undefined. */
  check: () => Promise<string | undefined>;
  /** Returns why the command has to end if it has written this much since the last check, or undefined. */
  findExcess: (writtenBytes: number) => string | undefined;
  /** Measures the files after the command. @returns a note for the command's result, or undefined. */
  finish: () => Promise<string | undefined>;
};

const UNTIL_THEN = "until then, nothing can be written, and commands can only remove files";
const ONLY_REMOVED =
  "this command could only remove files, because the workspace was over its quota when it began";

/**
 * Keeps a workspace within its limits of bytes and files. A command that exceeds them is ended. Afterwards, writes are
 * refused, and commands run without being able to write to files, until the workspace is within its limits again: it
 * cannot be seen beforehand which commands only remove files.
 *
 * @param onSize called with the size of the files after each change.
 */
export function createWorkspaceQuota(
  root: string,
  limits: SandboxLimits,
  disk: DiskFloor,
  onSize: (bytes: number) => void = () => {},
): WorkspaceQuota {
  const { workspaceBytesMax, workspaceEntriesMax } = limits;
  const bytesSentence = `the workspace is over its quota of ${workspaceBytesMax} bytes; remove files: ${UNTIL_THEN}`;
  const entriesSentence = `the workspace is over its quota of ${workspaceEntriesMax} files and folders; remove some: ${UNTIL_THEN}`;
  const hiddenSentence = `the workspace has a folder that cannot be measured (its path is too long, it has too many files, or it may not be opened); remove it: ${UNTIL_THEN}`;
  /** The size while no command runs; undefined until it is first needed. */
  let atRest: FolderSize | undefined;

  const describeExcess = (size: FolderSize, allowed: FolderSize): string | undefined => {
    if (size.entries > Math.max(workspaceEntriesMax, allowed.entries)) return entriesSentence;
    if (size.bytes <= Math.max(workspaceBytesMax, allowed.bytes)) return undefined;
    return size.isHidden ? hiddenSentence : bytesSentence;
  };
  /** Measures the whole size, even over the quota. */
  const measureAtRest = () => measureFolder(root, { bytesMax: Infinity, entriesMax: Infinity });

  async function refuseOnFullDisk(bytes: number): Promise<void> {
    const problem = await disk.findProblem(bytes);
    if (problem !== undefined) throw new WorkspaceError(problem, undefined, "full");
  }

  return {
    async reserve(bytes) {
      await refuseOnFullDisk(bytes);
      const isOver = ({ bytes: used, entries }: FolderSize) =>
        entries >= workspaceEntriesMax || used + bytes > workspaceBytesMax;
      // The stored size may be too large: it includes overwritten files and failed writes. So measure before refusing.
      if (atRest === undefined || isOver(atRest)) atRest = await measureAtRest();
      if (atRest.entries >= workspaceEntriesMax) throw new WorkspaceError(entriesSentence, undefined, "full");
      if (isOver(atRest))
        throw new WorkspaceError(atRest.isHidden ? hiddenSentence : bytesSentence, undefined, "full");
      atRest = { bytes: atRest.bytes + bytes, entries: atRest.entries + 1 };
      onSize(atRest.bytes);
    },

    async remeasure() {
      atRest = await measureAtRest();
      onSize(atRest.bytes);
    },

    async begin({ mustWrite } = { mustWrite: false }) {
      await refuseOnFullDisk(0);
      if (atRest === undefined || describeExcess(atRest, NOTHING)) atRest = await measureAtRest();
      const excess = describeExcess(atRest, NOTHING);
      if (mustWrite && excess !== undefined) throw new WorkspaceError(excess);
      const isRemovalOnly = excess !== undefined;
      /** The size at the last check. Over the quota, the command must not make the files larger than this. */
      let baseline = atRest;

      return {
        isRemovalOnly,
        async check() {
          const full = await disk.findProblem();
          if (full !== undefined) return `ended: ${full}`;
          const size = await measureFolder(root, {
            bytesMax: Math.max(workspaceBytesMax, baseline.bytes),
            entriesMax: Math.max(workspaceEntriesMax, baseline.entries),
          });
          const grown = describeExcess(size, baseline);
          if (grown !== undefined) return `ended: ${grown}`;
          baseline = size;
          return undefined;
        },
        findExcess: (writtenBytes) =>
          describeExcess({ ...baseline, bytes: baseline.bytes + writtenBytes }, baseline),
        async finish() {
          atRest = await measureAtRest();
          onSize(atRest.bytes);
          const over = describeExcess(atRest, NOTHING);
          if (!isRemovalOnly) return over;
          return over === undefined
            ? `${ONLY_REMOVED}; it is within its quota again`
            : `${ONLY_REMOVED}; it still is: remove more`;
        },
      };
    },
  };
}

const NOTHING: FolderSize = { bytes: 0, entries: 0 };
