import type { BrowserContext, CDPSession, Download, Page, Request } from "playwright";
import { onceSource } from "#lib/injected/bundle.ts";
import { shorten } from "#lib/text/shorten.ts";
import type { ListenerGuard } from "../process/listener-guard.ts";
import { type DownloadBody, readAgain, readResponse, releaseBody, within } from "./download-body.ts";
import { pageOf } from "./page-of-request.ts";

/** A file that a page offered for download, with its bytes or the reason why they could not be read. */
export type PageDownload = { url: string; name: string } & (
  | { bytes: Uint8Array; failure?: undefined }
  | { bytes?: undefined; failure: string }
);

/** A download, with its path in the session's workspace or the reason why it was not stored. */
export type StoredDownload = { url: string; name: string } & (
  | { path: string; size: number; failure?: undefined }
  | { path?: undefined; failure: string }
);

/** A response that DevTools' Fetch domain has paused. */
export type PausedResponse = {
  requestId: string;
  request: { url: string; method: string };
  networkId?: string;
  responseStatusCode?: number;
  responseHeaders?: { name: string; value: string }[];
};

/**
 * The downloads of all pages of one browser. Their bytes are read over DevTools, because the service cannot read the
 * disk of a remote browser.
 */
export type PageDownloads = {
  /**
   * Reads the body of a paused response that is or may be a download, and then answers the request. If the response is
   * a download, the browser then announces the download with a file name. While three downloads are in progress,
   * reports a failed download instead and aborts the request.
   * @returns whether `capture` took over the response. If not, the caller must continue the request.
   */
  capture: (cdp: CDPSession, response: PausedResponse) => boolean;
  /** Returns the number of downloads in progress, including those whose bytes are being stored. */
  pending: () => number;
};

const READ_MS_MAX = 60_000;
const DOWNLOADS_AT_ONCE_MAX = 3;
const NAME_CHARS_MAX = 120;
const URL_CHARS_MAX = 2_000;
/** How many failed downloads may wait to be reported. Further ones of a page in a loop are not reported. */
const FAILURES_WAITING_MAX = 20;
/** How long the service keeps the bytes of a response while it waits for the browser to announce the download. */
const ANNOUNCE_MS_MAX = 10_000;
/** How long the object of a `blob:` URL stays readable after the page has revoked the URL. */
const REVOKED_MS = 10_000;

const NAVIGATIONS_MAX = 20;
const TAB_ROUNDS = 10;
const TAB_ROUND_MS = 20;

const TOO_MANY = `${DOWNLOADS_AT_ONCE_MAX} other downloads were in progress`;

type Watch = {
  context: BrowserContext;
  guard: ListenerGuard;
  refuse: (url: string) => Promise<string | undefined>;
  onDownload: (download: PageDownload) => Promise<void>;
  readMs: number;
  /** Bodies of downloads that the browser has not announced yet, by URL. */
  bodies: Map<string, DownloadBody[]>;
  pending: number;
  /** Number of failed downloads that are being reported. */
  failing: number;
  /** The latest navigation request for each URL. */
  navigations: Map<string, Request>;
};

/**
 * Reads the downloads of a context's pages. Calls `onDownload` once for each download. The download counts as in
 * progress until `onDownload` resolves.
 * @param refuse returns why the service may not request a URL; undefined if it may.
 * @param readMs how long reading the bytes of a download may take.
 */
export async function watchDownloads(
  context: BrowserContext,
  guard: ListenerGuard,
  refuse: (url: string) => Promise<string | undefined>,
  onDownload: (download: PageDownload) => Promise<void>,
  readMs = READ_MS_MAX,
): Promise<PageDownloads> {
  const watch: Watch = {
    context,
    guard,
    refuse,
    onDownload,
    readMs,
    bodies: new Map(),
    pending: 0,
    failing: 0,
    navigations: new Map(),
  };
  const onRequest = (request: Request) => {
    if (!request.isNavigationRequest()) return;
    watch.navigations.set(request.url(), request);
    const [oldest] = watch.navigations.keys();
    if (watch.navigations.size > NAVIGATIONS_MAX && oldest !== undefined) watch.navigations.delete(oldest);
  };
  const onPage = (page: Page) => {
    const onOffered = (download: Download) => report(watch, page, download);
    page.on("download", guard(onOffered));
  };
  context.on("request", guard(onRequest));
  context.on("page", guard(onPage));
  await context.addInitScript({ content: onceSource("object-urls", "delayUrlRevocation", [REVOKED_MS]) });
  return {
    capture(cdp, response) {
      const kind = kindOf(response);
      if (kind === "page") return false;
      guard(() => captureBody(watch, cdp, response, kind === "download"))();
      return true;
    },
    pending: () => watch.pending,
  };
}

/** Predicts whether the browser shows a response as a page or downloads it; `unknown` if this is not certain. */
function kindOf({ networkId, responseStatusCode = 0, responseHeaders = [] }: PausedResponse) {
  const header = (name: string) =>
    responseHeaders
      .find((each) => each.name.toLowerCase() === name)
      ?.value.trim()
      .toLowerCase() ?? "";
  if (responseStatusCode < 200 || responseStatusCode > 299 || responseStatusCode === 204) return "page";
  if (/^attachment\b/.test(header("content-disposition"))) return "download";
  // Chromium's request for a link with a `download` attribute has no network id.
  if (networkId === undefined) return "download";
  return SHOWN_TYPES.test(header("content-type")) ? "page" : "unknown";
}

const SHOWN_TYPES =
  /^($|(text\/(html|plain|xml|css|javascript|event-stream)|application\/(json|javascript|xml|[\w.-]+\+(xml|json))|image\/|audio\/|video\/|multipart\/))/;

async function captureBody(watch: Watch, cdp: CDPSession, response: PausedResponse, isDownload: boolean) {
  const { requestId, request, responseStatusCode: responseCode = 200, responseHeaders = [] } = response;
  if (watch.pending >= DOWNLOADS_AT_ONCE_MAX) {
    await cdp.send("Fetch.failRequest", { requestId, errorReason: "Aborted" }).catch(() => {});
    return reportFailure(watch, { url: request.url, name: nameOf(request.url), failure: TOO_MANY });
  }
  watch.pending += 1;
  const body = await within(watch.readMs, readResponse(cdp, requestId));
  const waiting = watch.bodies.get(request.url) ?? [];
  watch.bodies.set(request.url, [...waiting, body]);
  const dropUnannounced = () => {
    // The browser announced no download, because it showed the response as a page or because the page was closed.
    if (!takeBody(watch, request.url, body)) return;
    releaseBody(body);
    watch.pending -= 1;
  };
  const forget = setTimeout(watch.guard(dropUnannounced), ANNOUNCE_MS_MAX);
  forget.unref();
  const isShownWhole = !isDownload && "bytes" in body;
  const headers = responseHeaders.filter(({ name }) => !BODY_HEADERS.has(name.toLowerCase()));
  await cdp
    .send("Fetch.fulfillRequest", {
      requestId,
      responseCode,
      responseHeaders: headers,
      body: isShownWhole ? Buffer.from(body.bytes).toString("base64") : "",
    })
    .catch(() => {});
}

/** Headers about the encoding of the body in transit. They are removed, because the browser gets the decoded body. */
const BODY_HEADERS = new Set(["content-encoding", "content-length", "transfer-encoding"]);

/** Removes a body from `bodies`. @returns whether the body was in there. */
function takeBody({ bodies }: Watch, url: string, body: DownloadBody): boolean {
  const waiting = bodies.get(url) ?? [];
  if (!waiting.includes(body)) return false;
  if (waiting.length === 1) bodies.delete(url);
  else
    bodies.set(
      url,
      waiting.filter((each) => each !== body),
    );
  return true;
}

/**
 * Reports a download that the browser has announced. Cancels the browser's own download, so that no file is written.
 */
async function report(watch: Watch, page: Page, download: Download): Promise<void> {
  void download.cancel().catch(() => {});
  const url = download.url();
  const name = cleanName(download.suggestedFilename());
  const about = { url: shorten(url, URL_CHARS_MAX), name };
  const captured = watch.bodies.get(url)?.[0];
  if (!captured && watch.pending >= DOWNLOADS_AT_ONCE_MAX)
    return reportFailure(watch, { ...about, failure: TOO_MANY });
  if (captured) takeBody(watch, url, captured);
  else watch.pending += 1;
  let body = captured;
  try {
    body ??= await within(watch.readMs, readAgain(watch, page, url));
    await watch.onDownload({ ...about, ...body });
    await closeEmptyTab(watch, url);
  } finally {
    if (body) releaseBody(body);
    watch.pending -= 1;
  }
}

/** Reports a download that was not read. Does nothing if too many such reports wait. */
async function reportFailure(watch: Watch, download: PageDownload & { failure: string }): Promise<void> {
  if (watch.failing >= FAILURES_WAITING_MAX) return;
  watch.failing += 1;
  await watch.onDownload({ ...download, url: shorten(download.url, URL_CHARS_MAX) }).finally(() => {
    watch.failing -= 1;
  });
}

/** Closes a tab that was opened only for a download. A headless browser does not close such an empty tab itself. */
async function closeEmptyTab({ navigations }: Watch, url: string): Promise<void> {
  const request = navigations.get(url);
  navigations.delete(url);
  for (let round = 0; request && round < TAB_ROUNDS; round += 1) {
    const page = pageOf(request);
    if (page?.url() === "") await page.close().catch(() => {});
    if (page) return;
    // Playwright announces a tab a little later than the tab's requests.
    await new Promise((resolve) => setTimeout(resolve, TAB_ROUND_MS));
  }
}

/**
 * Returns a safe file name. Replaces leading dots, and characters that file names must not contain, by `_`. Shortens a
 * long name, but keeps the extension.
 */
function cleanName(suggested: string): string {
  const name =
    suggested
      .replace(/[\p{C}/\\:*?"<>|]/gu, "_")
      .replace(/^\.+/, "_")
      .trim() || "download";
  if (name.length <= NAME_CHARS_MAX) return name;
  const extension = /\.\w{1,10}$/.exec(name)?.[0] ?? "";
  return name.slice(0, NAME_CHARS_MAX - extension.length) + extension;
}

const nameOf = (url: string) => cleanName(URL.parse(url)?.pathname.split("/").at(-1) ?? "");
