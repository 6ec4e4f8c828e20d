import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { endBusyScript } from "#lib/browser/page/end-busy-script.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { explainEngineSource } from "../page-kit/explain-element.ts";
import { findRef, listFrames } from "../page-kit/find-ref.ts";
import { withinDeadline } from "../within-deadline.ts";
import { connectPageRelay, type PageRelay } from "./page-relay.ts";
import type { ScriptProcess } from "./script-process.ts";
import type { FromChild } from "./script-protocol.ts";
import type { ScriptCall, ScriptEnd, ScriptFiles, ScriptOptions, ScriptOutcome } from "./script-runner.ts";

/**
 * How long to wait for the script to be disconnected from the page before the outcome is returned. If a busy page takes
 * longer, its overlay is shown again later.
 */
const DISCONNECT_MS_MAX = 2_000;
/** After how long without an answer a page counts as busy: before a script, and after a script that ran too long. */
const BUSY_BEFORE_MS = 6_000;
const BUSY_AFTER_MS = 2_000;
/** Maximum number of calls in progress that are recorded for a script. */
const CALLS_MAX = 50;
/** Largest file that can be sent to a script, for an upload or to read a download. A file is sent in one message. */
const UPLOAD_BYTES_MAX = 20 * 2 ** 20;
const LOG_CHARS_MAX = 20_000;
const RESULT_CHARS_MAX = 200_000;
/** Timeout of a single action in a script; Playwright's default of 30 s would use up the script's whole time. */
const ACTION_TIMEOUT_MS = 10_000;
const USES_REFS = /\bref\b/;

type Play = {
  child: ScriptProcess;
  live: LiveBrowser;
  script: string;
  options: Required<ScriptOptions>;
  end: PromiseWithResolvers<ScriptEnd>;
  /** Whether the script has ended. A connection to the page that opens after that is closed immediately. */
  isOver: boolean;
  relay: PageRelay | undefined;
  showOverlay: () => void;
  logs: string;
  openCalls: Map<number, ScriptCall>;
  /** Whether the script listens for dialogs. */
  isListening: boolean;
  hasEndedPageScript: boolean;
};

/**
 * Runs one script in a waiting process: connects the process to the session's page, and returns the script's result or
 * the reason why it failed. The process is killed before the function returns, which happens shortly after the deadline
 * at the latest.
 */
export async function playScript(
  child: ScriptProcess,
  live: LiveBrowser,
  script: string,
  options: Required<ScriptOptions>,
): Promise<ScriptOutcome> {
  const { timeoutMs, signal } = options;
  const play: Play = {
    child,
    live,
    script,
    options,
    end: Promise.withResolvers<ScriptEnd>(),
    isOver: false,
    relay: undefined,
    showOverlay() {},
    logs: "",
    openCalls: new Map(),
    isListening: false,
    hasEndedPageScript: false,
  };
  const dialogClaim = live.claimDialogs({ isListening: () => play.isListening });
  const unfollow = live.activity.follow((entry) => {
    if (entry.kind !== "download") return;
    const { url, name, path = null, failure = null } = entry.download;
    child.send({ type: "download", url, name, path, failure });
  });
  const timer = setTimeout(
    () => fail(play, `The script ran longer than ${timeoutMs} ms and was ended.`, true),
    timeoutMs,
  );
  const onAbort = () => fail(play, "The script was stopped.");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  child.ended.then(({ reason }) => fail(play, reason));
  connect(play, dialogClaim).catch((error) =>
    fail(play, `The page could not be reached: ${error instanceof Error ? error.message : error}`),
  );

  try {
    const ended = await play.end.promise;
    // Dialogs are answered first, because a page with an open dialog answers nothing else.
    dialogClaim.release();
    const { logs, openCalls, relay } = play;
    if (!ended.ok && ended.timedOut) {
      // The process is killed first, so that it does not keep the page busy.
      child.kill();
      // The page or the browser may have ended meanwhile. The script's outcome stays the same then.
      await freePage(play, BUSY_AFTER_MS).catch(() => {});
    }
    const { hasEndedPageScript } = play;
    const pageCount = relay?.pageCount() ?? 0;
    return { ...ended, logs, openCalls: [...openCalls.values()], pageCount, hasEndedPageScript };
  } finally {
    play.isOver = true;
    unfollow();
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    child.kill();
    await withinDeadline(new AbortController().signal, DISCONNECT_MS_MAX, () =>
      disconnect(live, play.relay).finally(play.showOverlay),
    ).catch(() => {});
  }
}

function fail({ end }: Play, error: string, timedOut = false): void {
  end.resolve({ ok: false, error, isThrown: false, hint: undefined, timedOut });
}

/** Connects the process to the page and starts the script. */
async function connect(play: Play, dialogClaim: ReturnType<LiveBrowser["claimDialogs"]>): Promise<void> {
  const { child, live, script, options } = play;
  await freePage(play, BUSY_BEFORE_MS);
  if (play.isOver) return;
  // The overlay, with which people annotate the page, is hidden: a script must neither see nor operate it.
  const showOverlay = await live.hideOverlay("script");
  if (play.isOver) return showOverlay();
  play.showOverlay = showOverlay;
  const relay = await connectPageRelay({
    openDevtools: live.openDevtools,
    targetId: await live.targetId(),
    toScript(message) {
      const { method, params, sessionId = "" } = message;
      if (method === "Page.javascriptDialogOpening")
        dialogClaim.noteShown(sessionId, String(params?.type), String(params?.message));
      if (method === "Page.javascriptDialogClosed")
        dialogClaim.noteClosed(sessionId, params?.result === true, String(params?.userInput ?? ""));
      child.send({ type: "devtools", message });
    },
    onInput: live.noteScriptInput,
    onFront: live.select,
    readRefusal: live.readRefusal,
    onBroken: () => fail(play, "The script's process sent an invalid message."),
    onClose: () => fail(play, "The browser went away while the script ran."),
  });
  if (play.isOver) return void relay.close();
  play.relay = relay;
  await child.ready;
  child.listen((message) => receive(play, message));
  child.send({
    type: "run",
    script,
    helpers: Object.keys(options.helpers),
    frames: USES_REFS.test(script) ? await listFrames(live) : {},
    explainSource: explainEngineSource(),
    actionTimeoutMs: Math.min(ACTION_TIMEOUT_MS, options.timeoutMs),
    logCharsMax: LOG_CHARS_MAX,
    resultCharsMax: RESULT_CHARS_MAX,
  });
}

/** Handles one message of the process. The contents of the message are not trusted. */
function receive(play: Play, message: FromChild): void {
  switch (message.type) {
    case "connected":
      void showOtherPages(play);
      break;
    case "devtools":
      play.relay?.fromScript(message.message);
      break;
    case "log":
      if (play.logs.length < LOG_CHARS_MAX)
        play.logs += `${beginningOf(String(message.text), LOG_CHARS_MAX)}\n`;
      break;
    case "dialogs":
      play.isListening = message.isListening === true;
      break;
    case "ref": {
      const ref = String(message.ref);
      play.relay?.installRef(ref, () => findRef(play.live, ref));
      break;
    }
    case "call":
      if (play.openCalls.size < CALLS_MAX) play.openCalls.set(Number(message.id), readCall(message));
      break;
    case "called":
      play.openCalls.delete(Number(message.id));
      break;
    case "ask":
      void answer(play, message);
      break;
    case "done":
      play.end.resolve(message.ok === true ? readValue(message) : readError(message, play.script));
  }
}

/** Makes a busy page answer again. Otherwise the agent could not leave a page whose script never ends. */
async function freePage(play: Play, waitMs: number): Promise<void> {
  if (await endBusyScript(await play.live.cdp(), waitMs)) play.hasEndedPageScript = true;
}

/** Closes the script's connection to the page, and restores the size of the page if the script changed it. */
async function disconnect(live: LiveBrowser, relay: PageRelay | undefined): Promise<void> {
  await relay?.close();
  if (relay?.hasResized()) await restoreViewport(live);
}

/** Sets the size of each page again, because the browser resets it when the script's connection closes. */
async function restoreViewport(live: LiveBrowser): Promise<void> {
  await Promise.all(
    live.context.pages().map(async (page) => {
      const size = page.viewportSize();
      if (size) await page.setViewportSize(size).catch(() => {});
    }),
  );
}

async function showOtherPages({ relay, child }: Play): Promise<void> {
  // If the other tabs cannot be shown, the script can use only the current tab.
  const count = (await relay?.showOtherPages().catch(() => 1)) ?? 1;
  child.send({ type: "pages", count });
}

const readCall = ({ name, line, column }: ScriptCall): ScriptCall => ({
  name: String(name).slice(0, 100),
  line: Number(line),
  column: Number(column),
});

/** Answers the script's call of a function of the service: a helper (`page.<name>`), or a function for files. */
async function answer(
  { child, options }: Play,
  { id, name, args }: Extract<FromChild, { type: "ask" }>,
): Promise<void> {
  try {
    const functions = { ...options.helpers, ...fileFunctions(options.files) };
    const called = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (!called || !Array.isArray(args)) throw new Error(`There is no page.${name}.`);
    child.send({ type: "answer", id, ok: true, value: (await called(...args)) ?? null });
  } catch (error) {
    child.send({
      type: "answer",
      id,
      ok: false,
      error: error instanceof Error ? error.message : String(error),
    });
  }
}

/** Creates the functions that the child calls for uploads and downloads. */
function fileFunctions({
  read,
  write,
}: ScriptFiles): Record<string, (...args: unknown[]) => Promise<unknown>> {
  return {
    async readFile(path) {
      const bytes = await read(String(path));
      if (bytes.length > UPLOAD_BYTES_MAX)
        throw new Error(`${path} is ${bytes.length} bytes; a script can use at most ${UPLOAD_BYTES_MAX}`);
      const name = String(path).split("/").at(-1);
      return { name, base64: Buffer.from(bytes).toString("base64") };
    },
    copyFile: async (from, to) => write(String(to), await read(String(from))),
  };
}

function readValue(done: Extract<FromChild, { type: "done"; ok: true }>): ScriptEnd {
  if (done.json === "") return { ok: true, value: undefined };
  try {
    const value: unknown = JSON.parse(String(done.json).slice(0, 4 * RESULT_CHARS_MAX));
    if (done.cutFrom === null) return { ok: true, value };
    return { ok: true, value: `${value}… (cut: ${Number(done.cutFrom)} characters in all)` };
  } catch {
    return {
      ok: false,
      error: "The script's result is not JSON.",
      isThrown: false,
      hint: undefined,
      timedOut: false,
    };
  }
}

/**
 * Describes an error that a script threw: the message, the line and column in the script, and a hint for a frequent
 * error.
 */
function readError(
  { error: message, line, column }: Extract<FromChild, { type: "done"; ok: false }>,
  script: string,
): ScriptEnd {
  const error = String(message);
  const source = typeof line === "number" ? script.split("\n")[line - 1]?.trim() : undefined;
  const at = typeof column === "number" ? `line ${line}, column ${column}` : `line ${line}`;
  const where = source ? `\nat ${at}: ${beginningOf(source, 200)}` : "";
  const hint = HINTS.find(({ when }) => when.test(error))?.say;
  return { ok: false, error: `${error}${where}`, isThrown: true, hint, timedOut: false };
}

const HINTS = [
  {
    when: /the element of ref (\w+) is not in the page/,
    say: "It was removed or replaced since the snapshot, or the page was left. Take a new snapshot with dom_query.",
  },
  {
    when: /reading '(exit|env|cwd|stdout|mainModule)'|require is not a function|DYNAMIC_IMPORT|dynamic import|ERR_ACCESS_DENIED|restricted|fetch is not a function|no network/,
    say: "A script has page, context and console only: no modules, files, environment or network of its own. Use page.evaluate for what the page itself can do, and the screenshot tool for pictures.",
  },
  {
    when: /strict mode violation/,
    say: "Several elements match: narrow the selector (dom_query gives unique ones), or take .first().",
  },
  {
    when: /no element matches/,
    say: "Take a snapshot with dom_query, and use the ref of the element, or its role and name as shown there.",
  },
] as const;
