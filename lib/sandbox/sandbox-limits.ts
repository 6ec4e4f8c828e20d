import type { GroupLimits } from "#lib/isolation/control-groups.ts";

/** Limits of one session's workspace and commands. Sizes in bytes, times in milliseconds. */
export type SandboxLimits = {
  /** Largest file that `writeFile` accepts. */
  writeBytesMax: number;
  /** Total size of a workspace's files. Writes beyond it are refused; a command that exceeds it is killed. */
  workspaceBytesMax: number;
  /** Number of files and folders of a workspace. Enforced in the same way as `workspaceBytesMax`. */
  workspaceEntriesMax: number;
  /** Shortest interval between two measurements of a running command's workspace. */
  measureEveryMs: number;
  /** Shortest interval between two checks of the memory, writes and open files of a command's processes. */
  watchEveryMs: number;
  /** Size of the part of a command's output that is kept: half from its beginning, half from its end. */
  outputBytesMax: number;
  /** A command that prints more than this is killed. */
  floodBytesMax: number;
  /** Private memory of each process. */
  memoryBytesMax: number;
  /** Total memory of all processes of a command. */
  commandMemoryBytesMax: number;
  /** Total bytes that a command may write to disk, including files that it removes before the workspace is measured. */
  commandWriteBytesMax: number;
  /** Largest file that a command can write. */
  commandFileBytesMax: number;
  processesMax: number;
  openFilesMax: number;
  /** Size of the command's own /tmp, and of its /dev/shm; both are in memory. */
  temporaryBytesMax: number;
  /** Number of processors that all commands of a session share. Needs control groups. */
  processorsMax: number;
};

const MEBIBYTE = 1_048_576;

/**
 * The default limits. They keep one session from starving the others. Source: `security.md`, What comes in; decision
 * 026.
 */
export const sandboxLimits: SandboxLimits = {
  writeBytesMax: 50 * MEBIBYTE,
  workspaceBytesMax: 512 * MEBIBYTE,
  workspaceEntriesMax: 50_000,
  measureEveryMs: 1_000,
  watchEveryMs: 100,
  outputBytesMax: MEBIBYTE / 4,
  floodBytesMax: 64 * MEBIBYTE,
  memoryBytesMax: 1_024 * MEBIBYTE,
  commandMemoryBytesMax: 2_048 * MEBIBYTE,
  commandWriteBytesMax: 4_096 * MEBIBYTE,
  commandFileBytesMax: 256 * MEBIBYTE,
  processesMax: 256,
  openFilesMax: 1_024,
  temporaryBytesMax: 64 * MEBIBYTE,
  processorsMax: 2,
};

/**
 * Returns the limits of a test run: Playwright's runner and a Chromium need more memory, threads and shared memory than
 * a command. Source: `security.md`, Test runs.
 */
export const withTestLimits = (limits: SandboxLimits): SandboxLimits => ({
  ...limits,
  memoryBytesMax: 2_048 * MEBIBYTE,
  commandMemoryBytesMax: 3_072 * MEBIBYTE,
  processesMax: 1_024,
  openFilesMax: 4_096,
  temporaryBytesMax: 512 * MEBIBYTE,
});

/** Added to the process limit of a control group, because the group counts the launcher's processes as well. */
const LAUNCHER_PROCESSES = 32;

/**
 * Returns the limits that the kernel enforces for all commands of a session together, including files in memory (/tmp,
 * /dev/shm).
 */
export const groupLimits = (limits: SandboxLimits): GroupLimits => ({
  memoryBytesMax: limits.commandMemoryBytesMax + 2 * limits.temporaryBytesMax,
  processesMax: limits.processesMax + LAUNCHER_PROCESSES,
  processorsMax: limits.processorsMax,
});
