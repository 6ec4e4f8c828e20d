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

/** A function of ours that a script calls as `page.<name>(…)`; arguments and answer travel as JSON. */
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

/** What a runner needs. */
type ScriptRunnerOptions = {
  /** The Node ≥ 24 that children run on; by default the one we run on. */
  nodePath?: string;
  logger: Pick<Logger, "warn">;
  /** Scripts at the same time; further ones wait. */
  maxConcurrent?: number;
  /** Keeps one process started and waiting, which takes about 0.3 s off each script. */
  isWarm?: boolean;
  /** Which ways to confine to try, strongest first; all by default. */
  confinement?: readonly ConfinementKind[];
};

/**
 * Makes the runner. From the second script on, a process is started before the script comes; it runs it once, and is
 * killed after it, at the deadline or when the signal fires; nothing a script does reaches another.
 * Source: `security.md`, What comes in.
 *
 * @throws Error when this machine starts no child process at all.
 */
export async function createScriptRunner(options: ScriptRunnerOptions): Promise<ScriptRunner> {
  const confinement = await findConfinement(options.nodePath ?? process.execPath, options.confinement);
  const maxConcurrent = options.maxConcurrent ?? 4;
  const queue: (() => void)[] = [];
  let running = 0;
  let spare: ScriptProcess | undefined;
  let isClosed = false;
  const active = new Set<ScriptProcess>();

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
    return child;
  };
  const enter = async (signal: AbortSignal) => {
    if (running < maxConcurrent) {
      running++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const onTurn = () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      const onAbort = () => {
        queue.splice(queue.indexOf(onTurn), 1);
        reject(new Error("stopped"));
      };
      queue.push(onTurn);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  };
  const leave = () => {
    const next = queue.shift();
    if (next) next();
    else running--;
  };

  return {
    async run(live, script, { timeoutMs, signal, helpers = {} }) {
      const stopped: ScriptOutcome = {
        ok: false,
        error: "The script was stopped.",
        timedOut: false,
        logs: "",
        dialogs: [],
      };
      if (signal.aborted || isClosed) return stopped;
      try {
        await enter(signal);
      } catch {
        return stopped;
      }
      const child = take();
      active.add(child);
      try {
        return await playScript(child, live, script, { timeoutMs, signal, helpers });
      } finally {
        child.kill();
        await child.ended;
        active.delete(child);
        leave();
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
