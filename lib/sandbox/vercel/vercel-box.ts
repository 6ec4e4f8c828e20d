import type { SandboxLimits } from "../sandbox-limits.ts";

/** A running command in a box (a Vercel Sandbox). */
export type BoxCommand = {
  logs: () => AsyncIterable<{ data: string }>;
  wait: () => Promise<{ exitCode: number }>;
  kill: (signal: "SIGKILL") => Promise<unknown>;
};

/** The part of a Vercel Sandbox that the service uses. The SDK resumes a stopped box at any of these calls. */
export type VercelBox = {
  /** The home of the box's user, which differs between images. */
  readonly cwd: string;
  /** The public URLs of the ports. They may change when the box resumes, so they are read again after each call. */
  readonly routes: readonly { port: number; url: string }[];
  runCommand: (params: {
    cmd: string;
    args: string[];
    cwd?: string;
    env?: Record<string, string>;
    /** Runs the command as root. */
    sudo?: boolean;
    detached: true;
    timeoutMs?: number;
  }) => Promise<BoxCommand>;
  readFileToBuffer: (file: { path: string }) => Promise<Buffer | null>;
  writeFiles: (files: { path: string; content: Uint8Array }[]) => Promise<void>;
};

/** A box that also knows when its session ends. */
export type OpenBox = VercelBox & {
  /** When the platform stops the box, whatever it does; undefined while it is stopped. */
  readonly expiresAt: Date | undefined;
  extendTimeout: (byMs: number) => Promise<void>;
};

/** Opens and removes the boxes of sessions. */
export type VercelBoxes = {
  /**
   * Opens the session's box; creates it if necessary. A stopped box resumes with its files.
   * @returns `isNew`: the box was created now, without files of the session.
   */
  open: (sessionId: string) => Promise<{ box: OpenBox; isNew: boolean }>;
  /** Returns the session's box if it runs now. No call of the returned box resumes it: after a stop, they fail with 410. */
  findRunning: (sessionId: string) => Promise<VercelBox | undefined>;
  /** Lets the session's box run for at least this time, if it runs. Does nothing beyond the plan's longest session. */
  keepRunning: (sessionId: string, leastMs: number) => Promise<void>;
  /** Removes the box with its files and its snapshots. @throws if the platform cannot be reached or refuses. */
  remove: (sessionId: string) => Promise<void>;
};

/** The limits that also apply in a box. Memory, disk and processes are limited by the box's machine itself. */
export type BoxLimits = Pick<SandboxLimits, "writeBytesMax" | "outputBytesMax" | "floodBytesMax">;
