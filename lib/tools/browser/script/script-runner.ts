import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { openSandboxUsers, type SandboxUsers } from "#lib/isolation/sandbox-users.ts";
import type { Logger } from "#lib/log/logger.ts";
import { playScript } from "./play-script.ts";
import {
  CONFINEMENT_KINDS,
  type Confinement,
  type ConfinementKind,
  findConfinement,
} from "./script-confinement.ts";
import { type ScriptProcess, startScriptProcess } from "./script-process.ts";

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

/** Runs the agent's Playwright scripts, each in a separate process that can reach only the session's pages. */
export type ScriptRunner = {
  run: (live: LiveBrowser, script: string, options: ScriptOptions) => Promise<ScriptOutcome>;
  /** Why this machine cannot run scripts: a sentence for the model. Undefined if the machine can run scripts. */
  refusal: string | undefined;
  /** Describes how scripts are confined on this machine, for the health check and the startup banner. */
  describe: () => { kind: string; detail: string };
  /** Ends all processes and refuses further scripts. */
  close: () => Promise<void>;
};

type ScriptRunnerOptions = {
  /**
   * Path of the Node executable that runs the children, version 24 or later. By default, the executable of the service.
   */
  nodePath?: string;
  logger: Pick<Logger, "warn">;
  /** Whether to fall back to weaker confinement where bubblewrap does not work (`SANDBOX=unconfined`). */
  isUnconfinedAllowed?: boolean;
  /** How many scripts may run at the same time. Further scripts wait. */
  maxConcurrent?: number;
  /**
   * Whether to keep a spare process for the next script. True by default, because this saves about 0.3 s per script.
   */
  isWarm?: boolean;
  /** The kinds of confinement to try; overrides `isUnconfinedAllowed`. */
  confinement?: readonly ConfinementKind[];
};

/**
 * Creates the runner. Each process runs one script. The process is killed when the script ends, at the deadline, or
 * when the signal fires. After each script, a spare process is started for the next script. If the confinement allows
 * it (`hasUsers`), each process has its own user, so that scripts cannot affect each other.
 */
export async function createScriptRunner(options: ScriptRunnerOptions): Promise<ScriptRunner> {
  const { logger, nodePath = process.execPath, isUnconfinedAllowed = false } = options;
  const kinds = options.confinement ?? (isUnconfinedAllowed ? CONFINEMENT_KINDS : (["bubblewrap"] as const));
  const confinement = await findConfinement(nodePath, kinds);
  if ("reason" in confinement) {
    logger.warn({ reason: confinement.reason }, NOT_CONFINED);
    return refuseScripts(confinement.reason);
  }
  if (confinement.kind !== "bubblewrap")
    logger.warn({ confinement: confinement.detail }, "scripts run without bubblewrap (SANDBOX=unconfined)");
  const users = confinement.hasUsers ? await openSandboxUsers() : undefined;
  return runScripts(options, confinement, users);
}

const NOT_CONFINED =
  "browser_execute refuses scripts, because bubblewrap does not work: install it (apt-get install bubblewrap), or set SANDBOX=unconfined on a machine for development";

/** Creates a runner that refuses every script, for machines that cannot confine scripts. */
function refuseScripts(reason: string): ScriptRunner {
  const refusal =
    "Scripts cannot run on this deployment: they need bubblewrap, which does not work there. Use the other tools, and say " +
    "what you cannot do without scripts.";
  return {
    refusal,
    run: async () => ({ ...STOPPED, error: refusal, openCalls: [], pageCount: 0 }),
    describe: () => ({ kind: "none", detail: `scripts are refused (${reason})` }),
    close: async () => {},
  };
}

function runScripts(
  options: ScriptRunnerOptions,
  confinement: Confinement,
  users: SandboxUsers | undefined,
): ScriptRunner {
  const slots = createSlots(options.maxConcurrent ?? 4);
  const active = new Set<ScriptProcess>();
  let spare: ScriptProcess | undefined;
  let isClosed = false;

  const start = () => {
    const user = users?.assign();
    const child = startScriptProcess(confinement.start(user));
    if (user) child.ended.then(() => users?.release(user));
    return child;
  };
  const warmUp = () => {
    if (options.isWarm === false || isClosed || spare) return;
    const child = start();
    spare = child;
    child.ended.then((end) => {
      if (spare !== child) return;
      spare = undefined;
      options.logger.warn({ reason: end.reason }, "the spare script process ended unexpectedly");
    });
  };
  const take = () => {
    const child = spare ?? start();
    spare = undefined;
    active.add(child);
    return child;
  };

  return {
    refusal: undefined,
    async run(live, script, { timeoutMs, signal, helpers = {}, check = () => {}, files = NO_FILES }) {
      const stopped = { ...STOPPED, openCalls: [], pageCount: 0 };
      if (signal.aborted || isClosed || !(await slots.enter(signal))) return stopped;
      if (isClosed) {
        slots.leave();
        return stopped;
      }
      const child = take();
      try {
        return await playScript(child, live, script, { timeoutMs, signal, helpers, check, files });
      } finally {
        child.kill();
        await child.ended;
        active.delete(child);
        slots.leave();
        warmUp();
      }
    },
    describe: () => ({
      kind: confinement.kind,
      detail: `${confinement.detail}, ${users ? "a user per process" : "one user for all"}`,
    }),
    async close() {
      isClosed = true;
      const children = [...active, ...(spare ? [spare] : [])];
      spare = undefined;
      for (const child of children) child.kill();
      await Promise.all(children.map((child) => child.ended));
    },
  };
}

const noFiles = () => Promise.reject(new Error("this session has no workspace"));
const NO_FILES: ScriptFiles = { read: noFiles, write: noFiles };

const STOPPED = {
  ok: false,
  error: "The script was stopped.",
  isThrown: false,
  hint: undefined,
  timedOut: false,
  hasEndedPageScript: false,
  logs: "",
} as const;

/** Limits how many scripts run at the same time; the others wait in order of arrival. */
function createSlots(max: number) {
  const queue: (() => void)[] = [];
  let running = 0;
  return {
    /** Waits for a slot. @returns false when the signal fires first. */
    async enter(signal: AbortSignal): Promise<boolean> {
      if (running < max) {
        running++;
        return true;
      }
      return new Promise<boolean>((resolve) => {
        const onTurn = () => {
          signal.removeEventListener("abort", onAbort);
          resolve(true);
        };
        const onAbort = () => {
          queue.splice(queue.indexOf(onTurn), 1);
          resolve(false);
        };
        queue.push(onTurn);
        signal.addEventListener("abort", onAbort, { once: true });
      });
    },
    /** Gives the slot to the next script in the queue. Frees the slot if the queue is empty. */
    leave(): void {
      const next = queue.shift();
      if (next) next();
      else running--;
    },
  };
}
