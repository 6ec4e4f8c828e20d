import type { Page } from "playwright";
import { z } from "zod";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import type { FoundElement } from "#lib/injected/tools/find-on-page.ts";
import { countOf } from "#lib/text/count-of.ts";
import { shorten } from "#lib/text/shorten.ts";
import { quoteAsData } from "../../quote-as-data.ts";
import { errorResult, type ToolResult, textResult } from "../../tool.ts";
import { ensureLiveBrowser } from "../ensure-live-browser.ts";
import type { HostServices } from "../host-services.ts";
import { answerFromPage } from "../page-copy/read-page.ts";
import { pageDeadline } from "../page-deadline.ts";
import { readCustomElements } from "../page-kit/custom-elements.ts";
import { evaluateIn } from "../page-kit/evaluate-in-frame.ts";
import type { PageFrame } from "../page-kit/page-frame.ts";
import { explainFrames, FRAME_ARROW, selectFrames, withFrames } from "../page-kit/page-frames.ts";
import { readTitle } from "../page-kit/read-title.ts";
import { pageTool } from "../page-tool.ts";
import { showDifference, showSnapshot } from "./show-snapshot.ts";
import type { SnapshotBook } from "./snapshot-book.ts";
import { type Snapshot, snapshotOf } from "./take-snapshot.ts";

const text = (max: number, description: string) =>
  z.string().min(1).max(max).optional().describe(description);

const input = z.strictObject({
  selector: text(2_000, "CSS; `a >> b` is b inside a"),
  role: text(100, "ARIA role"),
  text: text(500, "part of name or text"),
  frame: text(2_000, "key (f1), selector, name or part of the address"),
  limit: z.number().int().min(1).max(200).default(50),
  includeHidden: z.boolean().default(false).describe("also what is not rendered"),
  attributes: z
    .array(z.string().regex(/^[a-zA-Z_:][\w:.-]{0,60}$/))
    .max(10)
    .default([])
    .describe('such as ["href"]'),
  since: text(20, "only changes since this snapshot"),
  snapshot: text(20, "reads on in this snapshot"),
  from: z.number().int().min(1).optional().describe("first line"),
});
type Query = z.output<typeof input>;

const WORK_MS_MAX = 25_000;

/**
 * Reads the page. Returns a snapshot, the changes since an earlier snapshot, further lines of an earlier snapshot, or
 * the elements that match the filters. Source: specification, Structured sessions (`dom_query`).
 */
export const domQuery = pageTool(
  {
    name: "dom_query",
    description:
      "Reads the live page. Without arguments: a snapshot in reading order, with frames and shadow roots in place; page content is in quotes, [e7] is a ref for scripts. With selector, role or text, which combine: a line for each match, with its selector and box (x,y width×height). A match with `frame` is in that iframe: page.frameLocator(frame), one for each part around ' → '.",
    input,
    idempotent: true,
    readOnly: true,
    changes: false,
    timeoutMs: 120_000,
  },
  (services: Pick<HostServices, "browser" | "snapshots">) => async (query, call) => {
    const { sessionId } = call;
    if (query.snapshot !== undefined)
      return readOn(services.snapshots, sessionId, query.snapshot, query.from);
    const live = await ensureLiveBrowser(services.browser, call);
    const read = (from: LiveBrowser) =>
      withFrames(from, async (frames, page) => {
        const searched = selectFrames(frames, query.frame);
        if (query.frame !== undefined && searched.length === 0)
          return errorResult(explainFrames(frames, query.frame));
        const { selector, role } = query;
        if (selector !== undefined || role !== undefined || query.text !== undefined)
          return findElements(from, searched, query, page);
        const inner = query.frame === undefined ? frames : withInner(frames, searched);
        const snapshot = await snapshotOf(from, inner, page, query.attributes);
        return textResult(show(services.snapshots, sessionId, snapshot, query));
      });
    return pageDeadline(call.signal, WORK_MS_MAX).race(() => answerFromPage(live, read));
  },
);

/** Returns the first of the selected frames, and all frames inside that frame. */
function withInner(frames: PageFrame[], [first]: PageFrame[]): PageFrame[] {
  const inside = new Set([first?.key]);
  return frames.filter((frame) => {
    const isInside = inside.has(frame.key) || (frame.parentKey !== null && inside.has(frame.parentKey));
    if (isInside) inside.add(frame.key);
    return isInside;
  });
}

function show(book: SnapshotBook, sessionId: string, unnamed: Snapshot, { since, from }: Query): string {
  const before = since === undefined ? undefined : book.find(sessionId, since);
  const snapshot = book.add(sessionId, unnamed);
  if (since === undefined) return showSnapshot(snapshot, from);
  if (!before) return `The snapshot ${since} is not kept any more. ${showSnapshot(snapshot)}`;
  if (before.document !== snapshot.document)
    return `The page is another one than in ${since}. ${showSnapshot(snapshot)}`;
  return showDifference(before, snapshot);
}

function readOn(book: SnapshotBook, sessionId: string, id: string, from = 1): ToolResult {
  const snapshot = book.find(sessionId, id);
  if (!snapshot)
    return errorResult(
      `The snapshot ${id} is not kept any more; take a new one with dom_query without arguments.`,
    );
  if (from > snapshot.lines.length)
    return errorResult(`from: the snapshot ${id} has ${snapshot.lines.length} lines.`);
  return textResult(showSnapshot(snapshot, from));
}

async function findElements(
  live: LiveBrowser,
  frames: PageFrame[],
  query: Query,
  page: Page,
): Promise<ToolResult> {
  const { selector = null, role = null, text: words = null, limit, includeHidden, attributes } = query;
  const [first] = frames;
  const problem = selector === null || !first ? null : await evaluateIn(first, "checkSelector", selector);
  if (problem !== null)
    return errorResult(
      `"${selector}" is not a CSS selector: ${problem} Text and role are filters of their own here (text, role).`,
    );
  let total = 0;
  const lines: string[] = [];
  for (const frame of frames) {
    const filters = { selector, role, text: words, includeHidden, attributes, limit: limit - lines.length };
    await readCustomElements(frame);
    const found = await evaluateIn(frame, "findOnPage", filters, WORK_MS_MAX);
    total += found.total;
    lines.push(...found.elements.map((element) => present(frame, element)));
  }
  if (total === 0) return textResult(await explainNothing(live, frames, query, page));
  const shown = total > lines.length ? `, the first ${lines.length} shown` : "";
  const head = `${countOf(total, "element matches", "elements match")}${shown}.`;
  const about = `${JSON.stringify(await readTitle(page))} ${shorten(page.url(), 500)}`;
  const quoted = quoteAsData("the page", [about, ...lines].join("\n"));
  return textResult(`${head} ${quoted}`);
}

function present(frame: PageFrame, { label, text: words, selector, box, isVisible }: FoundElement): string {
  const [x, y] = [Math.round(box.x + frame.box.x), Math.round(box.y + frame.box.y)];
  return [
    label,
    ...(words === null ? [] : [`text ${words}`]),
    selector === null ? "in a closed shadow root" : `selector ${JSON.stringify(selector)}`,
    ...(frame.path.length > 0 ? [`frame ${JSON.stringify(frame.path.join(FRAME_ARROW))}`] : []),
    `box ${x},${y} ${box.width}×${box.height}`,
    ...(isVisible && frame.isVisible ? [] : ["hidden"]),
  ].join(" ");
}

const SUGGESTIONS_MAX = 6;
const CONTROL = /[a-z]+(?: \d)? "(?:[^"\\]|\\.)*"(?= \[|$)/g;

/**
 * Returns the text for a query that matches nothing. The text names the filters and a few named elements of the page:
 * those that share the most words with the query, or the first ones if no element shares a word.
 */
async function explainNothing(
  live: LiveBrowser,
  frames: PageFrame[],
  query: Query,
  page: Page,
): Promise<string> {
  const filters = [query.role && `role ${query.role}`, query.text && `text "${query.text}"`, query.selector]
    .filter(Boolean)
    .join(", ");
  const { lines } = await snapshotOf(live, frames, page, []);
  const offered = [...new Set(lines.flatMap((line) => line.match(CONTROL) ?? []))];
  const words = readWords(`${query.text ?? ""} ${query.selector ?? ""} ${query.role ?? ""}`);
  const scored = offered
    .map((control) => ({ control, score: countShared(words, readWords(control)) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ control }) => control);
  const closest = (scored.length > 0 ? scored : offered).slice(0, SUGGESTIONS_MAX);
  const hint =
    closest.length > 0
      ? ` Closest: ${quoteAsData("the page", closest.join(", "))}`
      : " The page has nothing to act on yet.";
  return `No ${query.includeHidden ? "" : "visible "}element matches ${filters}.${hint}`;
}

const readWords = (words: string): string[] => words.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];

function countShared(words: string[], offered: string[]): number {
  let score = 0;
  for (const word of words) {
    if (offered.includes(word)) score += 2;
    else if (offered.some((other) => other.startsWith(word.slice(0, 4)) && word.length >= 4)) score += 1;
  }
  return score;
}
