import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { endBusyScript } from "#lib/browser/page/end-busy-script.ts";
import { isStalled, PendingDocumentError, unlessStalled } from "#lib/browser/page/pending-documents.ts";
import { onceSource } from "#lib/injected/bundle.ts";
import { errorText } from "#lib/text/error-text.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { pageDeadline } from "../page-deadline.ts";
import { findRef, listFrames } from "../page-kit/find-ref.ts";
import { INVALID_MESSAGE } from "./read-messages.ts";
import { createActRecorder } from "./record-acts.ts";
import { recordClicks } from "./record-clicks.ts";
import { connectPageRelay, type PageRelay } from "./relay/page-relay.ts";
import { createScriptCalls, type ScriptCalls } from "./script-calls.ts";
import { readError, readValue } from "./script-end.ts";
import type { ScriptProcess } from "./script-process.ts";
import type { FromChild } from "./script-protocol.ts";
import type { ScriptCall, ScriptEnd, ScriptOptions, ScriptOutcome } from "./script-types.ts";

/**
 * How long to wait for the script to be disconnected from the page before the outcome is returned. If a busy page takes
 * longer, its overlay is shown again later.
 */
const DISCONNECT_MS_MAX = 2_000;
/** After how long without an answer a page counts as busy: before a script, and after a script that ran too long. */
const BUSY_BEFORE_MS = 6_000;
const BUSY_AFTER_MS = 2_000;
/** How long a script waits until the page's clicks are recorded. */
const RECORD_MS_MAX = 1_000;
/** Maximum number of calls in progress that are recorded for a script. */
const CALLS_MAX = 50;
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
  calls: ScriptCalls;
  end: PromiseWithResolvers<ScriptEnd>;
  /** Whether the script has ended. A connection to the page that opens after that is closed immediately. */
  isOver: boolean;
  relay: PageRelay | undefined;
  showOverlay: () => void;
  logs: string;
  openCalls: Map<number, ScriptCall>;
  acts: ReturnType<typeof createActRecorder>;
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
    calls: createScriptCalls(child, options),
    end: Promise.withResolvers<ScriptEnd>(),
    isOver: false,
    relay: undefined,
    showOverlay() {},
    logs: "",
    openCalls: new Map(),
    acts: createActRecorder(),
    isListening: false,
    hasEndedPageScript: false,
  };
  const dialogClaim = live.claimDialogs({ isListening: () => play.isListening });
  const unfollow = live.activity.follow((entry) => {
    if (entry.kind !== "download") return;
    const { url, name, path = null, failure = null } = entry.download;
    child.send({ type: "download", url, name, path, failure });
  });
  const unfollowDocuments = live.documents.follow(() => sendPending(play));
  // The timer kills the process itself, whatever the service is doing for the script.
  const timer = setTimeout(() => {
    fail(play, `The script ran longer than ${timeoutMs} ms and was ended.`, true);
    child.kill();
  }, timeoutMs);
  const onAbort = () => {
    fail(play, "The script was stopped.");
    child.kill();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  child.ended.then(({ reason }) => fail(play, reason));
  connect(play, dialogClaim).catch((error) =>
    fail(play, `The page could not be reached: ${errorText(error)}`),
  );

  try {
    const ended = await play.end.promise;
    // Dialogs are answered first, because a page with an open dialog answers nothing else.
    dialogClaim.release();
    const { logs, openCalls, relay } = play;
    if (!ended.ok && ended.timedOut) {
      // The process was killed, so it does not keep the page busy.
      // The page or the browser may have ended meanwhile. The script's outcome stays the same then.
      await freePage(play, BUSY_AFTER_MS).catch(() => {});
    }
    const { hasEndedPageScript } = play;
    const pageCount = relay?.pageCount() ?? 0;
    const acts = play.acts.list();
    return { ...ended, logs, openCalls: [...openCalls.values()], acts, pageCount, hasEndedPageScript };
  } finally {
    play.isOver = true;
    unfollow();
    unfollowDocuments();
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    child.kill();
    const disconnected = disconnect(live, play.relay).finally(play.showOverlay);
    disconnected.catch(() => {});
    // The relay closes later if the page's next document does not come: until then, the page answers no input.
    await unlessStalled(live.documents, live.page(), () =>
      pageDeadline(undefined, DISCONNECT_MS_MAX).race(() => disconnected),
    ).catch(() => {});
  }
}

function fail({ end }: Play, error: string, timedOut = false): void {
  end.resolve({ ok: false, error, isThrown: false, hint: undefined, timedOut });
}

/** Connects the process to the page and starts the script. */
async function connect(play: Play, dialogClaim: ReturnType<LiveBrowser["claimDialogs"]>): Promise<void> {
  const { child, live, script, options } = play;
  await unlessStalled(live.documents, live.page(), () => freePage(play, BUSY_BEFORE_MS)).catch(ignorePending);
  if (play.isOver) return;
  // Nothing depends on the clicks, and what hinders their recording hinders the script too, which then reports it.
  await unlessStalled(live.documents, live.page(), () =>
    createDeadline({ ms: RECORD_MS_MAX, lateMessage: "the page is busy" }).race(recordClicks(live)),
  ).catch(() => {});
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
        dialogClaim.recordShown(sessionId, String(params?.type), String(params?.message));
      if (method === "Page.javascriptDialogClosed")
        dialogClaim.recordClosed(sessionId, params?.result === true, String(params?.userInput ?? ""));
      child.send({ type: "devtools", message });
    },
    onInput: live.noteScriptInput,
    onFront: live.select,
    readRefusal: live.readRefusal,
    readPending() {
      const pending = readPending(live);
      return pending && isStalled(pending) ? { ...live.shownDocument(), url: live.page().url() } : undefined;
    },
    onBroken: () => fail(play, INVALID_MESSAGE),
    onClose: () => fail(play, "The browser went away while the script ran."),
  });
  if (play.isOver) return void relay.close();
  play.relay = relay;
  await child.ready;
  child.listen((message, bytes) => receive(play, message, bytes));
  sendPending(play);
  child.send({
    type: "run",
    script,
    helpers: Object.keys(options.helpers),
    frames: USES_REFS.test(script) ? ((await listFrames(live).catch(ignorePending)) ?? {}) : {},
    explainSource: onceSource("engines", "createExplainEngine", []),
    refSource: onceSource("engines", "createRefEngine", []),
    actionTimeoutMs: Math.min(ACTION_TIMEOUT_MS, options.timeoutMs),
    logCharsMax: LOG_CHARS_MAX,
    resultCharsMax: RESULT_CHARS_MAX,
  });
}

const readPending = (live: LiveBrowser) => live.documents.of(live.page().mainFrame());

function ignorePending(error: unknown): undefined {
  if (!(error instanceof PendingDocumentError)) throw error;
}

/** Tells the script's process which document the page waits for. */
function sendPending({ child, live }: Play): void {
  const pending = readPending(live);
  const document = pending && {
    url: pending.url,
    ageMs: performance.now() - pending.sinceMs,
    isRedirect: pending.isRedirect,
  };
  child.send({ type: "pending", document: document ?? null });
}

/** Handles one message of the process. The next message is read when the returned promise resolves. */
function receive(play: Play, message: FromChild, bytes: number): Promise<void> | undefined {
  try {
    play.options.check();
  } catch (error) {
    fail(play, errorText(error));
    play.child.kill();
    return;
  }
  switch (message.type) {
    case "connected":
      void showOtherPages(play);
      return;
    case "devtools":
      return play.relay?.fromScript(message.message, bytes);
    case "log":
      if (play.logs.length < LOG_CHARS_MAX) play.logs += `${beginningOf(message.text, LOG_CHARS_MAX)}\n`;
      return;
    case "dialogs":
      play.isListening = message.isListening;
      return;
    case "ref": {
      const { ref } = message;
      return play.relay?.installRef(ref, () => findRef(play.live, ref));
    }
    case "call":
      if (play.openCalls.size < CALLS_MAX) play.openCalls.set(message.id, readCall(message));
      play.acts.begin(message.id, message.act);
      return;
    case "called":
      play.openCalls.delete(message.id);
      play.acts.end(message.id, message.isDone);
      return;
    case "ask":
      return play.calls.begin(message);
    case "done":
      play.end.resolve(message.ok ? readValue(message, RESULT_CHARS_MAX) : readError(message, play.script));
  }
}

/** Makes a busy page answer again. Otherwise the agent could not leave a page whose script never ends. */
async function freePage(play: Play, waitMs: number): Promise<void> {
  const isHeldBack = () => readPending(play.live) !== undefined;
  if (await endBusyScript(await play.live.cdp(), waitMs, isHeldBack)) play.hasEndedPageScript = true;
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
  name: name.slice(0, 100),
  line,
  column,
});
