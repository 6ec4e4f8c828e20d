import type { Logger } from "pino";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { type ConfinementKind, findConfinement } from "./confinement.ts";
import { connectPageRelay, type PageRelay } from "./page-relay.ts";
import { type ScriptProcess, startScriptProcess } from "./script-process.ts";
import type { FromChild } from "./script-protocol.ts";

/** What a script gave back, or why it did not; `logs` is what it wrote to the console, cut at a limit. */
export type ScriptOutcome =
  | { ok: true; value: unknown; logs: string }
  | { ok: false; error: string; logs: string; timedOut: boolean };

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
export type ScriptRunnerOptions = {
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

const LOG_CHARS_MAX = 20_000;
const RESULT_CHARS_MAX = 200_000;
/** A single action's patience inside a script; Playwright's own 30 s would eat the script's whole time. */
const ACTION_TIMEOUT_MS = 10_000;

/**
 * Makes the runner. A script's process is started before the script comes, runs it once, and is killed after it, at the
 * deadline or when the signal fires; nothing a script does reaches another. Source: `security.md`, What comes in.
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

  warmUp();
  return {
    async run(live, script, { timeoutMs, signal, helpers = {} }) {
      const stopped: ScriptOutcome = {
        ok: false,
        error: "The script was stopped.",
        logs: "",
        timedOut: false,
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

async function playScript(
  child: ScriptProcess,
  live: LiveBrowser,
  script: string,
  { timeoutMs, signal, helpers }: Required<ScriptOptions>,
): Promise<ScriptOutcome> {
  let logs = "";
  let relay: PageRelay | undefined;
  let isOver = false;
  let finish: (outcome: ScriptOutcome) => void = () => {};
  const fail = (error: string, timedOut = false) => finish({ ok: false, error, logs: "", timedOut });
  const outcome = new Promise<ScriptOutcome>((resolve) => {
    finish = resolve;
  });
  const timer = setTimeout(
    () => fail(`The script ran longer than ${timeoutMs} ms and was ended.`, true),
    timeoutMs,
  );
  const onAbort = () => fail("The script was stopped.");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  child.ended.then((end) => fail(end.reason));

  const onMessage = (message: FromChild) => {
    switch (message.type) {
      case "devtools":
        return relay?.fromScript(message.message);
      case "log":
        if (logs.length < LOG_CHARS_MAX) logs += `${String(message.text).slice(0, LOG_CHARS_MAX)}\n`;
        return;
      case "helper":
        return void answerHelper(child, helpers, message);
      case "done":
        if (message.ok === true) finish(readValue(message));
        else fail(explainError(String(message.error), message.line, script));
    }
  };
  const begin = async () => {
    const connected = await connectPageRelay({
      devtoolsUrl: live.devtoolsUrl,
      targetId: await live.targetId(),
      toScript: (message) => child.send({ type: "devtools", message }),
      onInput: live.noteScriptInput,
      onClose: () => fail("The browser went away while the script ran."),
    });
    if (isOver) return connected.close();
    relay = connected;
    await child.ready;
    child.listen(onMessage);
    child.send({
      type: "run",
      script,
      helpers: Object.keys(helpers),
      actionTimeoutMs: Math.min(ACTION_TIMEOUT_MS, timeoutMs),
      logCharsMax: LOG_CHARS_MAX,
      resultCharsMax: RESULT_CHARS_MAX,
    });
  };
  begin().catch((error) =>
    fail(`The page could not be reached: ${error instanceof Error ? error.message : error}`),
  );

  try {
    return { ...(await outcome), logs };
  } finally {
    isOver = true;
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    child.kill();
    relay?.close();
    if (relay?.hasResized()) await restoreViewport(live);
  }
}

/** A script's size of the page ends with its connection, and would take the session's own size with it. */
async function restoreViewport(live: LiveBrowser): Promise<void> {
  const page = live.page();
  const size = page.viewportSize();
  if (size) await page.setViewportSize(size).catch(() => {});
}

async function answerHelper(
  child: ScriptProcess,
  helpers: Record<string, ScriptHelper>,
  call: Extract<FromChild, { type: "helper" }>,
): Promise<void> {
  const { id } = call;
  const helper = Object.hasOwn(helpers, call.name) ? helpers[call.name] : undefined;
  try {
    if (!helper || !Array.isArray(call.args)) throw new Error(`There is no page.${call.name}.`);
    child.send({ type: "helper", id, ok: true, value: (await helper(...call.args)) ?? null });
  } catch (error) {
    child.send({
      type: "helper",
      id,
      ok: false,
      error: error instanceof Error ? error.message : String(error),
    });
  }
}

function readValue(done: Extract<FromChild, { type: "done"; ok: true }>): ScriptOutcome {
  try {
    const value: unknown = JSON.parse(String(done.json).slice(0, 4 * RESULT_CHARS_MAX));
    if (done.cutFrom === null) return { ok: true, value, logs: "" };
    return { ok: true, value: `${value}… (cut: ${Number(done.cutFrom)} characters in all)`, logs: "" };
  } catch {
    return { ok: false, error: "The script's result is not JSON.", logs: "", timedOut: false };
  }
}

/** Adds the line of the script, and a sentence for what scripts most often want and cannot have. */
function explainError(error: string, line: number | null, script: string): string {
  const source = typeof line === "number" ? script.split("\n")[line - 1]?.trim() : undefined;
  const where = source ? `\nat line ${line}: ${source.slice(0, 200)}` : "";
  const hint = HINTS.find(({ when }) => when.test(error))?.say;
  return `${error}${where}${hint ? `\n${hint}` : ""}`;
}

const HINTS = [
  {
    when: /reading '(exit|env|cwd|stdout|mainModule)'|require is not a function|DYNAMIC_IMPORT|dynamic import|ERR_ACCESS_DENIED|restricted|fetch is not a function|no network/,
    say: "A script has page, context and console only: no modules, files, environment or network of its own. Use page.evaluate for what the page itself can do, and the screenshot tool for pictures.",
  },
  {
    when: /strict mode violation/,
    say: "Several elements match: narrow the selector (dom_query gives unique ones), or take .first().",
  },
  {
    when: /Timeout .*exceeded/,
    say: "Look with dom_query whether the element is there, visible and in which frame.",
  },
] as const;
