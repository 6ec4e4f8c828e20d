import { z } from "zod";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { shorten } from "#lib/text/shorten.ts";
import { describeFailure } from "../../describe-failure.ts";
import { quoteAsData } from "../../quote-as-data.ts";
import { errorResult, type ToolCall, type ToolResult, textResult } from "../../tool.ts";
import { ensureLiveBrowser } from "../ensure-live-browser.ts";
import type { HostServices } from "../host-services.ts";
import { readPage } from "../page-copy/read-page.ts";
import { pageDeadline } from "../page-deadline.ts";
import { pageTool } from "../page-tool.ts";
import { showDifference, showSnapshot } from "../read/show-snapshot.ts";
import { describeDifference, type SnapshotBook } from "../read/snapshot-book.ts";
import { takeSnapshot } from "../read/take-snapshot.ts";
import { type ActivityMark, markActivity, reportActivity } from "../report/report-activity.ts";
import { waitForEffects } from "../report/wait-for-effects.ts";
import { describeActs } from "./record-acts.ts";
import type { ScriptCall, ScriptOutcome } from "./script-types.ts";

const TIMEOUT_MS_MAX = 120_000;
/** Time that a call may take in addition to the script's own timeout, mainly to start a browser and the script's process. */
const START_AND_END_MS = 75_000;
/**
 * How long a call outside of a turn waits while a person has control of the browser. If the call belongs to a turn, the
 * turn waits before the call starts.
 */
const CONTROL_WAIT_MS = 60_000;
const IN_CONTROL = "A person has control of the live browser";
const LOGS_SHOWN_MAX = 8_000;
/** Longest name of a person that the model is shown, in characters. */
const NAME_MAX = 80;
/** How long the snapshot at the end of the tool result may take. */
const SNAPSHOT_MS_MAX = 10_000;
/**
 * Maximum characters of the snapshot at the end of the tool result. A tool result of more than 12,000 characters would
 * be cut.
 */
const SNAPSHOT_CHARS_MAX = 9_000;
/** The same after a script that returned a value, which is what the model wanted to know. */
const CHANGES_CHARS_MAX = 3_000;

/**
 * Runs the agent's Playwright script on the session's page. Source: specification, Structured sessions, Tool profile;
 * `security.md`, What comes in.
 */
export const browserExecute = pageTool(
  {
    name: "browser_execute",
    description:
      "Runs a Playwright script on the live page: the body of an async function with `page` (the current tab), `context` and `console`, without modules, files or network. page.ref('e7') is the locator of the element that a snapshot shows as [e7]. You get what it returns and logs, and a report. Example: `await page.ref('e7').fill('Ada'); await page.getByText('Thank you').waitFor();`",
    input: z.strictObject({
      script: z.string().min(1).max(100_000),
      timeoutMs: z.number().int().min(100).max(TIMEOUT_MS_MAX).default(30_000).describe("at most 120000"),
    }),
    idempotent: false,
    readOnly: false,
    changes: true,
    timeoutMs: TIMEOUT_MS_MAX + START_AND_END_MS + CONTROL_WAIT_MS,
    longestMs: ({ timeoutMs }) => timeoutMs + START_AND_END_MS + CONTROL_WAIT_MS,
  },
  (
    services: Pick<HostServices, "browser" | "control" | "scripts" | "files" | "snapshots" | "scriptHelpers">,
  ) =>
    async ({ script, timeoutMs }, call) => {
      const { control } = services;
      if (services.scripts.refusal !== undefined) return errorResult(services.scripts.refusal);
      const waitMs = call.runId === null ? CONTROL_WAIT_MS : 0;
      if (!(await control.untilFree(call.browserSessionId, waitMs, call.signal)))
        return errorResult(
          `${IN_CONTROL}, so the script was not run. Look at the page with the reading tools, or run the script again later.`,
        );
      const live = await ensureLiveBrowser(services.browser, call);
      // A person may have taken control while the browser started; the script is then interrupted at once.
      const running = control.beginScript(call.browserSessionId);
      const mark = markActivity(live);
      const outcome = await services.scripts
        .run(live, script, {
          timeoutMs,
          signal: AbortSignal.any([call.signal, running.signal]),
          helpers: services.scriptHelpers(call),
          ...(live.hasWorkspace && { files: services.files(call.rootSessionId) }),
        })
        .finally(running.end);
      services.browser.touch(call.browserSessionId);
      // Described before the report, which adds a snapshot with other refs.
      const actions = describeActs(outcome.acts, (ref) =>
        services.snapshots.describeRef(call.sessionId, ref),
      );
      const report = await reportScript(services.snapshots, live, mark, outcome, call);
      if (outcome.ok) return { ...textResult([describeValue(outcome), ...report].join("\n")), actions };
      const interruptedBy = running.interruptedBy();
      if (interruptedBy === undefined)
        return { ...failure(services.snapshots, call, outcome, report), actions };
      return {
        ...textResult([describeInterruption(interruptedBy, outcome), ...report].join("\n")),
        interruptedBy,
        actions,
      };
    },
);

function describeValue({ value, logs }: ScriptOutcome & { ok: true }): string {
  const console = describeConsole(logs);
  const nothing = "The script returned nothing.";
  if (value === undefined && console === "") return nothing;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 1);
  const result = value === undefined ? nothing : `Result: ${text}`;
  return quoteAsData("the page", `${result}${console}`);
}

/** Says that a person has interrupted the script, which is no failure of the script. */
function describeInterruption(by: string, { logs }: ScriptOutcome & { ok: false }): string {
  const console = describeConsole(logs);
  const name = JSON.stringify(shorten(by, NAME_MAX));
  const fact = `The script was interrupted by ${name}, a person who took control of the live browser. What it did to the page until then stands. Look at the page before you go on.`;
  return console === "" ? fact : `${fact}\n${quoteAsData("the page", console.trimStart())}`;
}

function failure(
  snapshots: SnapshotBook,
  { sessionId }: ToolCall,
  outcome: ScriptOutcome & { ok: false },
  report: string[],
): ToolResult {
  const { error, isThrown, hint, timedOut, logs } = outcome;
  const console = describeConsole(logs);
  const message = isThrown || console !== "" ? quoteAsData("the page", `${error}${console}`) : error;
  const advice = timedOut
    ? "What it did to the page until then stands. Wait for less, or give a larger timeoutMs."
    : hint;
  const goneRef = describeGoneRef(snapshots, sessionId, error);
  const summary = isThrown ? `The script failed. ${message}` : message;
  const lines = [summary, goneRef, advice, ...report];
  return errorResult(lines.filter((line) => line !== undefined).join("\n"));
}

const describeConsole = (logs: string) => (logs === "" ? "" : `\nConsole:\n${cut(logs.trimEnd())}`);

const ENDED_PAGE_SCRIPT =
  "The page did not answer, because one of its scripts kept it busy. That script was ended, so the page may not work as before.";

/**
 * Reports what happened while the script ran. Adds a snapshot of the page if the script returned nothing or failed. If it
 * returned a value, adds only what has changed on the page.
 */
async function reportScript(
  snapshots: SnapshotBook,
  live: LiveBrowser,
  mark: ActivityMark,
  outcome: ScriptOutcome,
  call: ToolCall,
): Promise<string[]> {
  const hasValue = outcome.ok && outcome.value !== undefined;
  const { pageCount } = outcome;
  await waitForEffects(live, { ...mark, pageCount, isRestAwaited: true }, call.signal);
  const lines = [...(outcome.hasEndedPageScript ? [ENDED_PAGE_SCRIPT] : []), ...describeOpenCalls(outcome)];
  const activity = await reportActivity(live, mark);
  const report = ["What has happened:", ...lines.map((line) => `- ${line}`), activity];
  const page = hasValue ? await showChanges(snapshots, live, call) : await showPage(snapshots, live, call);
  return page === undefined ? report : [...report, page];
}

/** Shows a snapshot of the page, or only what has changed if the session's last snapshot is of the same document. */
async function showPage(snapshots: SnapshotBook, live: LiveBrowser, call: ToolCall): Promise<string> {
  const before = snapshots.latest(call.sessionId);
  try {
    const { value: snapshot, notice } = await readSnapshot(live, call);
    const after = snapshots.add(call.sessionId, snapshot);
    if (notice !== undefined) return `${notice}\n${showSnapshot(after, 1, SNAPSHOT_CHARS_MAX)}`;
    return before?.document === snapshot.document
      ? showDifference(before, after, SNAPSHOT_CHARS_MAX)
      : showSnapshot(after, 1, SNAPSHOT_CHARS_MAX);
  } catch (error) {
    return `No snapshot: ${describeFailure(error)}`;
  }
}

/**
 * Shows what has changed since the session's last snapshot. Undefined if nothing has, or if that snapshot is of another
 * document: then the report names the new one.
 */
async function showChanges(
  snapshots: SnapshotBook,
  live: LiveBrowser,
  call: ToolCall,
): Promise<string | undefined> {
  const before = snapshots.latest(call.sessionId);
  if (!before) return undefined;
  try {
    const { value: snapshot, notice } = await readSnapshot(live, call);
    const isSame = notice === undefined && snapshot.document === before.document;
    if (!isSame || describeDifference(before, snapshot).length === 0) return undefined;
    return showDifference(before, snapshots.add(call.sessionId, snapshot), CHANGES_CHARS_MAX);
  } catch (error) {
    return `No snapshot: ${describeFailure(error)}`;
  }
}

const readSnapshot = (live: LiveBrowser, { signal }: ToolCall) =>
  pageDeadline(signal, SNAPSHOT_MS_MAX).race(() => readPage(live, takeSnapshot));

function describeOpenCalls({ openCalls, ...outcome }: ScriptOutcome): string[] {
  if (openCalls.length === 0) return [];
  const calls = openCalls.map(({ name, line, column }: ScriptCall) =>
    line === null ? name : `${name} (line ${line}, column ${column})`,
  );
  if (outcome.ok) return [`Not awaited, so that its effect is uncertain: ${calls.join(", ")}.`];
  return outcome.isThrown ? [] : [`The script was in ${calls.join(", ")}.`];
}

/**
 * If an error says that the element of a ref is not in the page, describes the element as the latest snapshot that
 * contains the ref showed it.
 */
function describeGoneRef(snapshots: SnapshotBook, sessionId: string, error: string): string | undefined {
  const ref = /the element of ref (\w+) is not in the page/.exec(error)?.[1];
  const was = ref === undefined ? undefined : snapshots.describeRef(sessionId, ref);
  return was === undefined ? undefined : quoteAsData("the page", `${ref} was ${was}.`);
}

const cut = (text: string) =>
  text.length > LOGS_SHOWN_MAX ? `${shorten(text, LOGS_SHOWN_MAX)} (cut)` : text;
