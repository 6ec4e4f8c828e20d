import { readTaskText } from "../demo-task.ts";
import type { Situation } from "../situation.ts";

/** A request to compare pages. */
export type Comparison = {
  /** The pages to compare: 2 to `PAGES_MAX` absolute http(s) URLs, in the order of the message. */
  urls: string[];
  /** The other URLs of the message, which are not compared. */
  leftOut: string[];
  /** The message without its URLs and paths. */
  words: string;
};

/**
 * Maximum number of pages in a comparison. Each page needs a sub-agent, and by default a session may have four live
 * sub-agents.
 */
export const PAGES_MAX = 4;

const URL_CHARACTERS_MAX = 2_000;

/** Matches an absolute http(s) URL, or a path that begins with one slash and is not part of a word, a tag or a URL. */
const ADDRESS = /https?:\/\/[^\s<>"'`)\]]+|(?<![\w/:.<>-])\/(?!\/)[^\s<>"'`)\],;|]*/gi;

const COMPARE = /\b(compar(e|es|ed|ing|isons?)|versus|vs|differences?|differs?)\b/i;

/**
 * Reads a request to compare at least two pages from the last user message; undefined for any other message. Paths are
 * resolved against the open page, otherwise the session's target page, otherwise the demo page.
 */
export function readComparison(situation: Situation): Comparison | undefined {
  const text = readTaskText(situation.message);
  const words = text.replace(ADDRESS, " ");
  if (!COMPARE.test(words)) return undefined;
  const base = situation.currentUrl ?? situation.targetUrl ?? situation.demoUrl;
  const found = [...text.matchAll(ADDRESS)].flatMap(([address]) => {
    const trimmed = address.slice(0, URL_CHARACTERS_MAX).replace(/[.,;:!?]{1,10}$/, "");
    return URL.parse(trimmed, base)?.href.replace(/#.*$/, "") ?? [];
  });
  const urls = [...new Set(found)];
  if (urls.length < 2) return undefined;
  return { urls: urls.slice(0, PAGES_MAX), leftOut: urls.slice(PAGES_MAX), words };
}
