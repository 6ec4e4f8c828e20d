import type { Logger } from "pino";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import type { AnsweredDialog } from "#lib/browser/page/page-dialogs.ts";
import { playScript } from "./play-script.ts";
import { type ConfinementKind, findConfinement } from "./script-confinement.ts";
import { type ScriptProcess, startScriptProcess } from "./script-process.ts";

/** What a script returned, or the sentence that says why it failed. */
export type ScriptEnd = { ok: true; value: unknown } | { ok: false; error: string; timedOut: boolean };

/** How a script ended, what it wrote to the console (cut at a limit), and the dialogs that were answered without it. */
export type ScriptOutcome = ScriptEnd & { logs: string; dialogs: AnsweredDialog[] };

/** A function of the service that a script calls as `page.<name>(…)`; arguments and result are JSON. */
export type ScriptHelper = (...args: unknown[]) => Promise<unknown>;

/** How one script is run. */
export type ScriptOptions = {
  timeoutMs: number;
  signal: AbortSignal;
  helpers?: Record<string, ScriptHelper>;
};

/** Runs the agent's Playwright scripts, each in a process of its own that can reach the session's page and nothing else. */
export type ScriptRunner = {
  run: (live: LiveBrowser, script: string, options: ScriptOptions) => Promise<ScriptOutcome>;
  /** How scripts are confined on this machine, for the health check and the banner. */
  describe: () => { kind: string; detail: string };
  /** Ends the waiting process and refuses further scripts. */
  close: () => Promise<void>;
};

type ScriptRunnerOptions = {
  /** The Node ≥ 24 that children run on; by default the one that runs the service. */
  nodePath?: string;
  logger: Pick<Logger, "warn">;
  /** How many scripts run at the same time; further ones wait. */
  maxConcurrent?: number;
  /** Keeps one process started and waiting, which takes about 0.3 s off each script. */
  isWarm?: boolean;
  /** Which ways to confine to try, strongest first; all by default. */
  confinement?: readonly ConfinementKind[];
};

/**
 * Makes the runner. From the second script on, a process is started before the script arrives; it runs one script and is
 * killed after it, at the deadline or when the signal fires. Nothing a script does reaches another script.
 *
 * @throws Error when no child process can be started on this machine.
 */
export async function createScriptRunner(options: ScriptRunnerOptions): Promise<ScriptRunner> {
  const confinement = await findConfinement(options.nodePath ?? process.execPath, options.confinement);
  const slots = createSlots(options.maxConcurrent ?? 4);
  const active = new Set<ScriptProcess>();
  let spare: ScriptProcess | undefined;
  let isClosed = false;

  const warmUp = () => {
    if (options.isWarm === false || isClosed || spare) return;
    const child = startScriptProcess(confinement);
    spare = child;
    child.ended.then((end) => {
      if (spare !== child) return;
      spare = undefined;
      options.logger.warn({ reason: end.reason }, "a waiting script process ended");
    });
  };
  const take = () => {
    const child = spare ?? startScriptProcess(confinement);
    spare = undefined;
    active.add(child);
    return child;
  };

  return {
    async run(live, script, { timeoutMs, signal, helpers = {} }) {
      if (signal.aborted || isClosed || !(await slots.enter(signal))) return { ...STOPPED, dialogs: [] };
      const child = take();
      try {
        return await playScript(child, live, script, { timeoutMs, signal, helpers });
      } finally {
        child.kill();
        await child.ended;
        active.delete(child);
        slots.leave();
        warmUp();
      }
    },
    describe: () => ({ kind: confinement.kind, detail: confinement.detail }),
    async close() {
      isClosed = true;
      const children = [...active, ...(spare ? [spare] : [])];
      spare = undefined;
      for (const child of children) child.kill();
      await Promise.all(children.map((child) => child.ended));
    },
  };
}

const STOPPED = { ok: false, error: "The script was stopped.", timedOut: false, logs: "" } as const;

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
    /** Passes the slot on to the next in the queue. */
    leave(): void {
      const next = queue.shift();
      if (next) next();
      else running--;
    },
  };
}
