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
import type { ScriptFiles, ScriptOptions, ScriptOutcome } from "./script-types.ts";

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
  /** Search path, as in PATH, for the programs that confine scripts; the system's folders by default. */
  launcherPath?: string | undefined;
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
  const confinement = await findConfinement(nodePath, kinds, options.launcherPath);
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
    run: async () => ({ ...STOPPED, error: refusal, openCalls: [], acts: [], pageCount: 0 }),
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
      const stopped = { ...STOPPED, openCalls: [], acts: [], pageCount: 0 };
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
