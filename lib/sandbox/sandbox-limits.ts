import type { GroupLimits } from "#lib/isolation/control-groups.ts";

/** What one session's workspace and commands may use. Sizes in bytes, times in milliseconds. */
export type SandboxLimits = {
  /** Largest file that `writeFile` takes. */
  writeBytesMax: number;
  /** All files of a workspace together: writes past it are refused, a command that grows past it is ended. */
  workspaceBytesMax: number;
  /** All files and folders of a workspace, held in the same way. */
  workspaceEntriesMax: number;
  /** How often a running command's workspace is measured, at most. */
  measureEveryMs: number;
  /** How often the memory and the open files of a command's processes are looked at. */
  watchEveryMs: number;
  /** How much of a command's output is kept: its beginning and its end, half each. */
  outputBytesMax: number;
  /** A command that writes more than this is ended. */
  floodBytesMax: number;
  /** Private memory of each process. */
  memoryBytesMax: number;
  /** Memory of all processes of a command together. */
  commandMemoryBytesMax: number;
  /** All that a command may write to disk, whatever it removes again: bounds what it could hide from measuring. */
  commandWriteBytesMax: number;
  /** Largest file a command can make. */
  commandFileBytesMax: number;
  processesMax: number;
  openFilesMax: number;
  /** Size of the command's own /tmp, and of its /dev/shm; both are memory. */
  temporaryBytesMax: number;
  /** How many processors the commands of a session may use together, where the kernel has control groups. */
  processorsMax: number;
};

const MEBIBYTE = 1_048_576;

/** Keep one session from starving the others. Source: `security.md`, What comes in; decision 026. */
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
 * The limits of a test run: Playwright's runner and a Chromium need more memory, threads and shared memory than a command.
 * Source: `security.md`, Test runs.
 */
export const withTestLimits = (limits: SandboxLimits): SandboxLimits => ({
  ...limits,
  memoryBytesMax: 2_048 * MEBIBYTE,
  commandMemoryBytesMax: 3_072 * MEBIBYTE,
  processesMax: 1_024,
  openFilesMax: 4_096,
  temporaryBytesMax: 512 * MEBIBYTE,
});

/** Processes of the launcher, which count in a control group. */
const LAUNCHER_PROCESSES = 32;

/** What the kernel holds the commands of a session to together; files in memory (/tmp, /dev/shm) are part of it. */
export const groupLimits = (limits: SandboxLimits): GroupLimits => ({
  memoryBytesMax: limits.commandMemoryBytesMax + 2 * limits.temporaryBytesMax,
  processesMax: limits.processesMax + LAUNCHER_PROCESSES,
  processorsMax: limits.processorsMax,
});
