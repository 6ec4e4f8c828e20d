/** The answer to a request below `/p/`. */
export type PageAnswer = {
  status: number;
  headers: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
};

/** Headers of every answer below `/p/`, because an agent made the content there. Source: `security.md`, Landing pages. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": "sandbox allow-scripts allow-forms allow-popups",
  "Access-Control-Allow-Origin": "*",
  "X-Content-Type-Options": "nosniff",
};
/** Browsers revalidate each time, mostly with a 304 as the answer, so that they never mix files of two versions. */
export const REVALIDATE = "public, max-age=0, must-revalidate";

/** The file of a page that is sent with a 404 for a path without a file, if the page has such a file. */
export const NOT_FOUND_FILE = "404.html";

export const MISSING = "There is no such page.";
export const UNPUBLISHED = "This page was unpublished.";

/** An answer for visitors of a page that does not exist, with a text of the service. */
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
