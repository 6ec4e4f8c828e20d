/** What one session's workspace and commands may use. Sizes in bytes, times in milliseconds. */
export type SandboxLimits = {
  /** Largest file that `writeFile` takes. */
  writeBytesMax: number;
  /** All files of a workspace together: writes past it are refused, a command that grows past it is ended. */
  workspaceBytesMax: number;
  /** How often a running command's workspace is measured, at most. */
  measureEveryMs: number;
  /** How much of a command's output is kept: its beginning and its end, half each. */
  outputBytesMax: number;
  /** A command that writes more than this is ended. */
  floodBytesMax: number;
  /** Private memory of each process. */
  memoryBytesMax: number;
  /** Largest file a command can make. */
  commandFileBytesMax: number;
  processesMax: number;
  openFilesMax: number;
  /** Size of the command's own /tmp, and of its /dev/shm; both are memory. */
  temporaryBytesMax: number;
};

const mebibyte = 1_048_576;

/** Source of the first two: `security.md`, What comes in; the rest keeps one session from starving the others. */
export const sandboxLimits: SandboxLimits = {
  writeBytesMax: 10 * mebibyte,
  workspaceBytesMax: 512 * mebibyte,
  measureEveryMs: 2_000,
  outputBytesMax: mebibyte / 4,
  floodBytesMax: 64 * mebibyte,
  memoryBytesMax: 1_024 * mebibyte,
  commandFileBytesMax: 256 * mebibyte,
  processesMax: 256,
  openFilesMax: 1_024,
  temporaryBytesMax: 64 * mebibyte,
};
