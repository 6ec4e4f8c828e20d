import type { Page } from "playwright";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import type { ActivityEntry, PageActivity } from "#lib/browser/page/page-activity.ts";
import type { AnsweredDialog } from "#lib/browser/page/page-dialogs.ts";
import { describePending } from "#lib/browser/page/pending-documents.ts";
import { countOf } from "#lib/text/count-of.ts";
import { shorten } from "#lib/text/shorten.ts";
import { quoteAsData } from "../../quote-as-data.ts";
import { readTitle } from "../page-kit/read-title.ts";

/** The current page, and the positions in the browser's activity log, before an action. */
export type ActivityMark = {
  /** Number of the first activity entry that belongs to the action. */
  position: number;
  /** Number of the first activity entry after the last report. The same as `position` if there was no report yet. */
  unreportedFrom: number;
  sinceMs: number;
  page: Page;
  url: string;
};

/** For the activity of each browser, the number of the first entry after the last report. */
const reportedTo = new WeakMap<PageActivity, number>();

const TEXT_MAX = 300;
/**
 * Maximum number of dialogs that a report lists. The same maximum applies to downloads, to requests and to script
 * errors, but not to tabs. The report only counts further entries.
 */
const LINES_MAX = 8;

const FILE_PICKER =
  "File picker: a script of the page asked for a file or folder (showOpenFilePicker, showSaveFilePicker or " +
  "showDirectoryPicker). The browser cannot show that dialog, so the script was told that it was cancelled. Set files " +
  "on an <input type=file> of the page instead, or read from the page what it would save.";

/** Records the state before an action, for a later `reportActivity`. */
export function markActivity(live: LiveBrowser): ActivityMark {
  const page = live.page();
  const position = live.activity.position();
  const unreportedFrom = reportedTo.get(live.activity) ?? position;
  return { position, unreportedFrom, sinceMs: performance.now(), page, url: page.url() };
}

/** Leaves what has happened in the pages so far out of all later reports. */
export const forgetActivity = ({ activity }: Pick<LiveBrowser, "activity">): void =>
  void reportedTo.set(activity, activity.position());

/**
 * Describes in lines the current page and what has happened: dialogs, tabs and downloads since the last report, and
 * requests and script errors of the current page since `mark`. The lines are marked as data of the page. Each text in
 * them is quoted, so that no page can forge a line.
 */
export async function reportActivity(live: LiveBrowser, mark: ActivityMark): Promise<string> {
  const { activity } = live;
  const entries = activity.since(mark.unreportedFrom);
  const own = activity.since(mark.position);
  reportedTo.set(activity, activity.position());
  const page = live.page();
  const of = <Kind extends ActivityEntry["kind"]>(kind: Kind, among = entries) =>
    among.filter((entry): entry is Extract<ActivityEntry, { kind: Kind }> => entry.kind === kind);
  const pending = live.pendingDownloads();
  const lines = [
    await describePage(live, mark),
    ...of("dialog")
      .slice(0, LINES_MAX)
      .map(({ dialog }) => describeDialog(dialog)),
    ...more(of("dialog").length, "dialogs"),
    ...(await describeTabs(live, entries)),
    ...of("page-lost")
      .slice(0, LINES_MAX)
      .map(({ url, reason }) => `Tab lost: ${quoteUrl(url)} was closed, because ${reason}.`),
    ...more(of("page-lost").length, "lost tabs"),
    ...of("download")
      .slice(0, LINES_MAX)
      .map(({ download }) => describeDownload(download)),
    ...more(of("download").length, "downloads"),
    ...(of("picker", own).some((entry) => entry.page === page) ? [FILE_PICKER] : []),
    ...(pending > 0 ? [`${countOf(pending, "download is", "downloads are")} still in progress.`] : []),
    ...collect(
      "Requests sent",
      of("request-sent", own)
        .filter((entry) => entry.page === page)
        .map(({ method, url, status }) => `${method} ${quoteUrl(url)} ${status}`),
    ),
    ...collect(
      "Failed requests",
      of("request-failed", own)
        .filter((entry) => entry.page === page)
        .map(({ method, url, reason }) => `${method} ${quoteUrl(url)} ${reason}`),
    ),
    ...collect(
      "Errors of the page's scripts",
      of("page-error", own)
        .filter((entry) => entry.page === page)
        .map(({ message }) => quote(message)),
    ),
  ];
  return quoteAsData("the page", lines.map((line) => `- ${line}`).join("\n"));
}

async function describePage(live: LiveBrowser, mark: ActivityMark): Promise<string> {
  const page = live.page();
  const url = page.url();
  const left = page === mark.page && url !== mark.url ? `, before ${quoteUrl(mark.url)}` : "";
  const pending = live.documents.of(page.mainFrame());
  if (!pending) return `Page: ${quote(await readTitle(page))} ${quoteUrl(url)}${left}`;
  return `Page: ${quoteUrl(url)}${left}. ${describePending(pending)} It leads to ${quoteUrl(pending.url)}; until then, the page of before stays.`;
}

function describeDialog({ kind, message, isAccepted, by, input }: AnsweredDialog): string {
  const how = isAccepted ? "accepted" : "dismissed";
  const who = {
    script: "by the script",
    default: "by default: the script did not listen for it",
    timeout: "by default: the script's listener did not answer it in time",
    person: "by a person",
  }[by];
  return `Dialog: ${kind} ${quote(message)} was ${how}${input === undefined ? "" : ` with ${quote(input)}`} ${who}.`;
}

/**
 * Describes tabs that were opened or closed, and lists all tabs except the current one. A tab that was opened and
 * closed again, for example for a download, is left out.
 */
async function describeTabs(live: LiveBrowser, entries: ActivityEntry[]): Promise<string[]> {
  const tabs = live.context.pages();
  const lines: string[] = [];
  const opened = entries.flatMap((entry) => (entry.kind === "page-opened" ? [entry.page] : []));
  for (const tab of opened.filter((each) => !each.isClosed())) {
    const current = tab === live.page() ? " It is the current page now." : "";
    lines.push(`Tab opened: ${quote(await readTitle(tab))} ${quoteUrl(tab.url())}.${current}`);
  }
  for (const entry of entries)
    if (entry.kind === "page-closed" && !opened.includes(entry.page))
      lines.push(`Tab closed: ${quoteUrl(entry.url)}.`);
  for (const pending of live.documents.ofNewPages())
    lines.push(`A new tab waits for ${quoteUrl(pending.url)}: its server has not answered.`);
  if (tabs.length > 1) {
    const shown = tabs.filter((tab) => tab !== live.page()).map((tab) => quoteUrl(tab.url(), 200));
    lines.push(`Other tabs: ${shown.join(", ")}.`);
  }
  return lines;
}

function describeDownload(download: Extract<ActivityEntry, { kind: "download" }>["download"]): string {
  const { name, path, failure } = download;
  return path === undefined
    ? `Download: ${quote(name)} failed: ${failure}.`
    : `Download: ${quote(path)} in the workspace, ${download.size} bytes.`;
}

/** Lists each distinct text once, with the number of its occurrences, on one line. */
function collect(title: string, found: string[]): string[] {
  const counts = new Map<string, number>();
  for (const each of found) counts.set(each, (counts.get(each) ?? 0) + 1);
  if (counts.size === 0) return [];
  const shown = [...counts]
    .slice(0, LINES_MAX)
    .map(([text, count]) => (count > 1 ? `${text} (${count} times)` : text));
  const left = counts.size - shown.length;
  return [`${title}: ${shown.join("; ")}${left > 0 ? `; and ${left} more` : ""}`];
}

const more = (count: number, what: string) =>
  count > LINES_MAX ? [`${count - LINES_MAX} more ${what}.`] : [];

const quote = (text: string) => JSON.stringify(shorten(text, TEXT_MAX));

const quoteUrl = (url: string, max = TEXT_MAX) => JSON.stringify(shorten(url, max));
