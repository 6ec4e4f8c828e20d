import type { Page } from "playwright";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import type { PageView } from "#lib/injected/tools/read-frame.ts";
import type { SnapshotLine } from "#lib/injected/tools/walk-page.ts";
import { shorten } from "#lib/text/shorten.ts";
import { readCustomElements } from "../page-kit/custom-elements.ts";
import { evaluateIn } from "../page-kit/evaluate-in-frame.ts";
import type { PageFrame } from "../page-kit/page-frame.ts";
import { withFrames } from "../page-kit/page-frames.ts";
import { readTitle } from "../page-kit/read-title.ts";

/** A page as lines of text and controls in reading order. The lines of a frame follow the line of its iframe. */
export type Snapshot = {
  url: string;
  title: string;
  /**
   * Identifies the document of the snapshot's first frame, so that only snapshots of the same document are compared.
   */
  document: string;
  view: PageView;
  /** How many requests that may fill the page have not ended. */
  loading: number;
  lines: string[];
};

/** Maximum lines of one frame. A snapshot leaves out the frame's further lines. */
const LINES_MAX = 20_000;
const WALK_MS_MAX = 10_000;
const URL_CHARS_MAX = 2_000;
/** An older request does not count as loading: pages wait for news with requests that stay open. */
const LOADING_MS_MAX = 15_000;

/** Takes a snapshot of the session's current page. @throws Error if the page is gone or does not answer. */
export const takeSnapshot = (live: LiveBrowser): Promise<Snapshot> =>
  withFrames(live, (frames, page) => snapshotOf(live, frames, page, []));

/**
 * Takes a snapshot of the first frame. The lines of each other frame are inserted after the line of its iframe.
 *
 * @param attributes names of the attributes to show with each element that people can use.
 * @throws Error if the first frame does not answer.
 */
export async function snapshotOf(
  live: LiveBrowser,
  [first, ...others]: PageFrame[],
  page: Page,
  attributes: string[],
): Promise<Snapshot> {
  if (!first) throw new Error("The page is gone; try again.");
  const [content, ...contents] = await Promise.all([
    walk(first, attributes),
    // An inner frame that does not answer is listed without its content.
    ...others.map((frame) => walk(frame, attributes).catch(() => null)),
  ]);
  const walked = new Map(
    others.map((frame, index) => [frame.ownerRef, { frame, content: contents[index] ?? null }]),
  );
  const lines: string[] = [];
  write(content?.lines ?? [], "", lines, walked);
  const view = await evaluateIn(first, "readView", null);
  return {
    url: shorten(page.url(), URL_CHARS_MAX),
    title: await readTitle(page),
    document: `${first.id} ${first.contextId}`,
    view,
    loading: live.activity.pending(page, performance.now() - LOADING_MS_MAX),
    lines,
  };
}

async function walk(frame: PageFrame, attributes: string[]) {
  await readCustomElements(frame);
  return evaluateIn(frame, "walkPage", { linesMax: LINES_MAX, attributes }, WALK_MS_MAX);
}

type Walked = Map<string | null, { frame: PageFrame; content: { lines: SnapshotLine[] } | null }>;

function write(source: SnapshotLine[], indent: string, lines: string[], walked: Walked): void {
  for (const { depth, text, frame } of source) {
    const own = indent + "  ".repeat(depth);
    const inner = frame === undefined ? undefined : walked.get(frame);
    if (!inner) {
      lines.push(own + text);
      continue;
    }
    const { key, url, isCrossOrigin } = inner.frame;
    const where = isCrossOrigin ? ` ${JSON.stringify(url.slice(0, 120))}` : "";
    lines.push(`${own}${text} ${key}${where}${inner.content ? "" : " (does not answer)"}`);
    write(inner.content?.lines ?? [], `${own}  `, lines, walked);
  }
}
