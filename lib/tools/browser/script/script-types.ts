import type { ScriptAct } from "./record-acts.ts";

/** The value that a script returned (`undefined` if it returned none), or the reason why it failed. */
export type ScriptEnd = { ok: true; value: unknown } | ScriptFailure;

type ScriptFailure = {
  ok: false;
  /**
   * If `isThrown`, the message and position of the error that the script threw; the message may contain text of a page.
   * Otherwise, a message of the service.
   */
  error: string;
  isThrown: boolean;
  /** Advice for the model on a frequent error. Undefined for other errors. */
  hint: string | undefined;
  timedOut: boolean;
};

/**
 * A script's call of a function of Playwright, and the line and column of the call in the script. They are null if they
 * are not known.
 */
export type ScriptCall = { name: string; line: number | null; column: number | null };

/** How a script ended. */
export type ScriptOutcome = ScriptEnd & {
  /** The script's console output, cut at a limit. */
  logs: string;
  /** Calls that had not completed when the script ended. */
  openCalls: ScriptCall[];
  /** What the script did to the page. */
  acts: ScriptAct[];
  /** Number of the session's pages when the script ended; 0 if the script was never connected. */
  pageCount: number;
  /** Whether a script in the page kept the page busy and was ended, before the agent's script or after it. */
  hasEndedPageScript: boolean;
};

/**
 * The files of the session's workspace, for uploads and downloads. `read` fails for a file of more than `bytesMax`
 * bytes. @throws Error with a readable message.
 */
export type ScriptFiles = {
  read: (path: string, bytesMax: number) => Promise<Uint8Array>;
  write: (path: string, bytes: Uint8Array) => Promise<void>;
};

/** A function of the service that a script calls as `page.<name>(…)`; arguments and result are JSON. */
export type ScriptHelper = (...args: unknown[]) => Promise<unknown>;

/** Options for one script. */
export type ScriptOptions = {
  timeoutMs: number;
  signal: AbortSignal;
  helpers?: Record<string, ScriptHelper>;
  /** Called before each message of the script is handled. If it throws, the script is ended with that error. */
  check?: () => void;
  /** The files of the workspace. If omitted, uploads by path and reads of downloads fail with an error message. */
  files?: ScriptFiles;
};
