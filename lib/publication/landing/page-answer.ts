/** The response to a request below `/p/`. */
export type PageAnswer = {
  status: number;
  headers: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
};

/**
 * Headers of every response below `/p/`. They isolate pages from the service, because agents write the pages. Source:
 * `security.md`, Landing pages.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": "sandbox allow-scripts allow-forms allow-popups",
  "Access-Control-Allow-Origin": "*",
  "X-Content-Type-Options": "nosniff",
};
/**
 * Value of `Cache-Control`. Browsers must revalidate each file on every use, so that they never mix files of two
 * versions. The response for an unchanged file is a 304.
 */
export const REVALIDATE = "public, max-age=0, must-revalidate";

/** Name of an optional file of a page. Its content is the body of the page's 404 responses. */
export const NOT_FOUND_FILE = "404.html";

export const MISSING = "There is no such page.";
export const UNPUBLISHED = "This page was unpublished.";

/** Builds the response for a page or file that does not exist or is unpublished: a short HTML page with this text. */
export const writeNotice = (status: number, text: string): PageAnswer => ({
  status,
  headers: {
    ...PAGE_HEADERS,
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": REVALIDATE,
  },
  body: new TextEncoder().encode(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${text}</title><main style="font:16px/1.5 system-ui;margin:20vh auto;max-width:30rem;padding:0 1rem"><h1 style="font-size:1.25rem">${text}</h1></main></html>\n`,
  ),
});
