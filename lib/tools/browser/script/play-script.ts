import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import type { AnsweredDialog } from "#lib/browser/page/page-dialogs.ts";
import { withinDeadline } from "../within-deadline.ts";
import { connectPageRelay, type PageRelay } from "./page-relay.ts";
import type { ScriptProcess } from "./script-process.ts";
import type { FromChild } from "./script-protocol.ts";
import type { ScriptEnd, ScriptHelper, ScriptOptions, ScriptOutcome } from "./script-runner.ts";

/** How long the outcome of a script waits for the page to be free of it; a busy page gets the overlay back later. */
const LETTING_GO_MS = 2_000;
const DIALOGS_MAX = 20;
const LOG_CHARS_MAX = 20_000;
const RESULT_CHARS_MAX = 200_000;
/** A single action's patience inside a script; Playwright's own 30 s would eat the script's whole time. */
const ACTION_TIMEOUT_MS = 10_000;

/**
 * Plays one script in a process that waits for it: connects the process to the session's page, and settles with what
 * the script gave back or why it did not, by the deadline at the latest. The process is killed by then.
 */
export async function playScript(
  child: ScriptProcess,
  live: LiveBrowser,
  script: string,
  { timeoutMs, signal, helpers }: Required<ScriptOptions>,
): Promise<ScriptOutcome> {
  let logs = "";
  let isListening = false;
  const dialogs: AnsweredDialog[] = [];
  let relay: PageRelay | undefined;
  let showOverlay = () => {};
  let isOver = false;
  const end = Promise.withResolvers<ScriptEnd>();
  const finish = end.resolve;
  const fail = (error: string, timedOut = false) => finish({ ok: false, error, timedOut });
  const dialogClaim = live.claimDialogs({
    isListening: () => isListening,
    onAnswered(dialog) {
      if (dialogs.length < DIALOGS_MAX) dialogs.push(dialog);
    },
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
      case "dialogs":
        isListening = message.isListening === true;
        return;
      case "helper":
        return void answerHelper(child, helpers, message);
      case "done":
        if (message.ok === true) finish(readValue(message));
        else fail(explainError(String(message.error), message.line, script));
    }
  };
  const begin = async () => {
    // A script must neither see nor operate the overlay, which is a person's.
    const show = await live.hideOverlay("script");
    if (isOver) return show();
    showOverlay = show;
    const connected = await connectPageRelay({
      devtoolsUrl: live.devtoolsUrl,
      targetId: await live.targetId(),
      toScript(message) {
        const { method, params, sessionId = "" } = message;
        if (method === "Page.javascriptDialogOpening")
          dialogClaim.noteShown(sessionId, String(params?.type), String(params?.message));
        if (method === "Page.javascriptDialogClosed") dialogClaim.noteClosed(sessionId);
        child.send({ type: "devtools", message });
      },
      onInput: live.noteScriptInput,
      readRefusal: live.readRefusal,
      onClose: () => fail("The browser went away while the script ran."),
    });
    if (isOver) return void connected.close();
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
    const ended = await end.promise;
    // First of all: a page that shows a dialog answers nothing else.
    dialogClaim.release();
    return { ...ended, logs, dialogs };
  } finally {
    isOver = true;
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    child.kill();
    await withinDeadline(new AbortController().signal, LETTING_GO_MS, () =>
      letGo(live, relay).finally(showOverlay),
    ).catch(() => {});
  }
}

/** Resolves when nothing of the script reaches the page any more, and its change of the page's size is undone. */
async function letGo(live: LiveBrowser, relay: PageRelay | undefined): Promise<void> {
  await relay?.close();
  if (relay?.hasResized()) await restoreViewport(live);
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

function readValue(done: Extract<FromChild, { type: "done"; ok: true }>): ScriptEnd {
  try {
    const value: unknown = JSON.parse(String(done.json).slice(0, 4 * RESULT_CHARS_MAX));
    if (done.cutFrom === null) return { ok: true, value };
    return { ok: true, value: `${value}… (cut: ${Number(done.cutFrom)} characters in all)` };
  } catch {
    return { ok: false, error: "The script's result is not JSON.", timedOut: false };
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
