import { z } from "zod";
import type { AnsweredDialog } from "#lib/browser/page/page-dialogs.ts";
import { quoteAsData } from "../../quote-as-data.ts";
import type { ToolServices } from "../../services.ts";
import { defineTool, errorResult, textResult } from "../../tool.ts";
import { openLive } from "../live-page-of.ts";
import type { SnapshotBook } from "../look/snapshot-book.ts";
import type { ScriptHelper } from "./script-runner.ts";

const TIMEOUT_MS_MAX = 120_000;
/** Time to start a browser and the script's process, in addition to the script's own time. */
const START_AND_END_MS = 75_000;
/** How long a call waits while a person has control; after that the agent gets an error, so that it can do something else. */
const CONTROL_WAIT_MS = 60_000;
const IN_CONTROL = "A person has control of the live browser";
const LOGS_SHOWN_MAX = 8_000;
const MESSAGE_SHOWN_MAX = 300;

/** Functions that scripts get as `page.<name>` in a session; made for each call. */
type ScriptHelpers = (sessionId: string) => Record<string, ScriptHelper>;

/**
 * Runs the agent's Playwright script on the session's page. Source: specification, Structured sessions, Tool profile;
 * `security.md`, What comes in.
 */
export const browserExecute = (
  services: Pick<ToolServices, "browser" | "control" | "scripts"> & { snapshots: SnapshotBook },
  helpers: ScriptHelpers = () => ({}),
) =>
  defineTool({
    name: "browser_execute",
    description:
      "Runs a Playwright script on the page in the live browser. The script is the body of an async function with `page`, `context` and `console` in scope; what it returns comes back as JSON, with what it wrote to the console. `page.ref('e7')` is the locator of the control that a snapshot of dom_query shows as [e7]. It has no modules, files, environment or network of its own, opens no further pages, and goes to http(s) addresses only. Dialogs of the page are dismissed, unless the script listens for them before they open: `page.on('dialog', (dialog) => dialog.accept())`. Return data rather than pictures, and only what is needed. Example: `await page.getByRole('button', { name: 'Add to cart' }).click(); return page.url();`",
    input: z.strictObject({
      script: z.string().min(1).max(100_000),
      timeoutMs: z.number().int().min(100).max(TIMEOUT_MS_MAX).default(30_000),
    }),
    needs: "browser",
    profile: "analysis",
    idempotent: false,
    readOnly: false,
    timeoutMs: TIMEOUT_MS_MAX + START_AND_END_MS + CONTROL_WAIT_MS,
    async execute({ script, timeoutMs }, call) {
      const { control } = services;
      if (!(await control.untilFree(call.sessionId, CONTROL_WAIT_MS, call.signal)))
        return errorResult(
          `${IN_CONTROL}, so the script was not run. Look at the page with the reading tools, or run the script again later.`,
        );
      const live = await openLive(services.browser, call);
      const taken = new AbortController();
      const stopIfTaken = () => {
        if (control.holderOf(call.sessionId) !== undefined) taken.abort();
      };
      const stopFollowing = control.follow(call.sessionId, stopIfTaken);
      // Someone may have taken control while the browser started.
      stopIfTaken();
      const outcome = await services.scripts
        .run(live, script, {
          timeoutMs,
          signal: AbortSignal.any([call.signal, taken.signal]),
          helpers: helpers(call.sessionId),
        })
        .finally(stopFollowing);
      services.browser.touch(call.sessionId);
      const console = outcome.logs === "" ? "" : `\nConsole:\n${cut(outcome.logs.trimEnd())}`;
      const logs = `${describeDialogs(outcome.dialogs)}${console}`;
      if (outcome.ok) {
        return textResult(
          quoteAsData(live.page().url(), `Result: ${JSON.stringify(outcome.value, null, 1)}${logs}`),
        );
      }
      if (taken.signal.aborted)
        return errorResult(
          `${IN_CONTROL} now, so the script was stopped. What it did to the page until then stands. Look at the page before you go on.${logs}`,
        );
      const advice = outcome.timedOut
        ? " What it did to the page until then stands. Wait for less, or give a larger timeoutMs."
        : "";
      const gone = describeGoneRef(services.snapshots, call.sessionId, outcome.error);
      return errorResult(`${outcome.error}${gone}${advice}${logs}`);
    },
  });

/** What a ref that is not in the page named when a snapshot last showed it. */
function describeGoneRef(snapshots: SnapshotBook, sessionId: string, error: string): string {
  const ref = /the element of ref (\w+) is not in the page/.exec(error)?.[1];
  const was = ref === undefined ? undefined : snapshots.describeRef(sessionId, ref);
  return was === undefined ? "" : `\n${ref} was ${was}.`;
}

/** Lines about the dialogs that the script did not answer itself; empty without any. */
function describeDialogs(dialogs: AnsweredDialog[]): string {
  if (dialogs.length === 0) return "";
  const lines = dialogs.map(({ kind, message, isAccepted, isLate }) => {
    const text = JSON.stringify(
      message.length > MESSAGE_SHOWN_MAX ? `${message.slice(0, MESSAGE_SHOWN_MAX)}…` : message,
    );
    const why = isLate ? ", because the script's listener did not answer it in time" : "";
    return `- ${kind} ${text} was ${isAccepted ? "accepted" : "dismissed"}${why}`;
  });
  return `\nDialogs that the script did not answer:\n${lines.join("\n")}`;
}

const cut = (text: string) =>
  text.length > LOGS_SHOWN_MAX ? `${text.slice(0, LOGS_SHOWN_MAX)}… (cut)` : text;
