import { type GuardedFetch, isGuardedFetchError } from "#lib/net/fetch/guarded-fetch.ts";
import { decodeBody, readMediaType } from "#lib/tools/workspace/fetch/decode-body.ts";

/** A web page, or a sentence that says why it could not be fetched. */
type FetchedPage =
  | { ok: true; url: string; html: string; isTruncated: boolean }
  | { ok: false; error: string };

const BYTES_MAX = 4 * 1_048_576;
const TIMEOUT_MS = 15_000;
/**
 * Maximum number of elements of a page. The limit bounds the time that parsing takes; ordinary pages have fewer
 * elements.
 */
const ELEMENTS_MAX = 60_000;
const PAGES = new Set(["text/html", "application/xhtml+xml"]);

/** Fetches a page with the guarded fetch. Redirects are followed, and private addresses are refused. */
export async function fetchPage(fetch: GuardedFetch, url: string, signal: AbortSignal): Promise<FetchedPage> {
  try {
    const answer = await fetch(url, {
      timeoutMs: TIMEOUT_MS,
      maxBytes: BYTES_MAX,
      redirect: "follow",
      overflow: "truncate",
      signal,
      purpose: { source: "mcp_tool" },
      headers: {
        "user-agent": "Mozilla/5.0 (compatible; AgentSessionService)",
        accept: "text/html, */*;q=0.1",
      },
    });
    if (answer.status >= 400) return { ok: false, error: `${answer.url} answered ${answer.status}.` };
    const contentType = answer.headers.get("content-type");
    const mediaType = readMediaType(contentType);
    const html = PAGES.has(mediaType) ? decodeBody(answer.body, contentType) : undefined;
    if (html === undefined) return { ok: false, error: `${answer.url} is no web page, but ${mediaType}.` };
    if (countTags(html) > ELEMENTS_MAX)
      return {
        ok: false,
        error: `${answer.url} has more than ${ELEMENTS_MAX.toLocaleString("en")} elements.`,
      };
    return { ok: true, url: answer.url, html, isTruncated: answer.truncated };
  } catch (error) {
    if (isGuardedFetchError(error))
      return { ok: false, error: `${url} could not be fetched: ${error.message}` };
    throw error;
  }
}

/** Counts start tags, those in comments and scripts included. It does not parse, because the limit is there to bound parsing. */
const countTags = (html: string): number => html.match(/<[a-z]/gi)?.length ?? 0;
