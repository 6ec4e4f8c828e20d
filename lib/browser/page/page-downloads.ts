import type { BrowserContext, CDPSession, Download, Page, Request } from "playwright";
import { findBlob, keepObjectUrls } from "./object-urls.ts";
import { pageOf } from "./page-activity.ts";

/** A file that a page offered for download; without `bytes`, the reason why it could not be read. */
export type PageDownload = { url: string; name: string } & (
  | { bytes: Uint8Array; failure?: undefined }
  | { bytes?: undefined; failure: string }
);

/** A download whose bytes were stored in the session's workspace, or the reason why they were not. */
export type StoredDownload = { url: string; name: string } & (
  | { path: string; size: number; failure?: undefined }
  | { path?: undefined; failure: string }
);

/** A response that DevTools' Fetch domain holds. */
export type HeldResponse = {
  requestId: string;
  request: { url: string; method: string };
  networkId?: string;
  responseStatusCode?: number;
  responseHeaders?: { name: string; value: string }[];
};

/** The downloads of all pages of one browser. Their bytes travel over DevTools: a remote browser shares no disk. */
export type PageDownloads = {
  /**
   * Reads the body of a held response that is, or may be, a download. The response is then answered with what the
   * browser needs to see of it, so that it announces the download with the file name that it chooses.
   * @returns whether it took the response over; if not, the caller has to answer it.
   */
  capture: (cdp: CDPSession, response: HeldResponse) => boolean;
  /** Downloads in progress, the storing of their bytes included. */
  pending: () => number;
};

const DOWNLOAD_BYTES_MAX = 50 * 2 ** 20;
const READ_MS_MAX = 60_000;
const CHUNK_BYTES = 2 ** 20;
const DOWNLOADS_AT_ONCE_MAX = 3;
const NAME_CHARS_MAX = 120;
/** How long the bytes of a response wait for the browser to announce the download. */
const ANNOUNCE_MS_MAX = 10_000;
/** How long the page's own object behind a `blob:` address stays readable after the page has revoked the address. */
const REVOKED_MS = 10_000;

const NAVIGATIONS_MAX = 20;
const TAB_ROUNDS = 10;
const TAB_ROUND_MS = 20;

const TOO_MANY = `${DOWNLOADS_AT_ONCE_MAX} other downloads were in progress`;
const TOO_LARGE = `it is larger than ${DOWNLOAD_BYTES_MAX / 2 ** 20} MiB`;

/** The body of a response, or why it could not be read. */
type Body = { bytes: Uint8Array } | { failure: string };

type Watch = {
  context: BrowserContext;
  refuse: (url: string) => Promise<string | undefined>;
  onDownload: (download: PageDownload) => Promise<void>;
  readMs: number;
  /** Bodies whose download the browser has not announced yet, by address. */
  bodies: Map<string, Body[]>;
  pending: number;
  /** The latest request of a page for each address. */
  navigations: Map<string, Request>;
};

/**
 * Reads what the pages of a context download; `onDownload` reports each one once, and resolves when it needs the bytes no
 * more: until then the download counts as one of those in progress, whose number is limited.
 * @param refuse returns why the service does not request an address.
 * @param readMs how long the bytes of a download may take.
 */
export async function watchDownloads(
  context: BrowserContext,
  refuse: (url: string) => Promise<string | undefined>,
  onDownload: (download: PageDownload) => Promise<void>,
  readMs = READ_MS_MAX,
): Promise<PageDownloads> {
  const watch: Watch = {
    context,
    refuse,
    onDownload,
    readMs,
    bodies: new Map(),
    pending: 0,
    navigations: new Map(),
  };
  context.on("request", (request) => {
    if (!request.isNavigationRequest()) return;
    watch.navigations.set(request.url(), request);
    const [oldest] = watch.navigations.keys();
    if (watch.navigations.size > NAVIGATIONS_MAX && oldest !== undefined) watch.navigations.delete(oldest);
  });
  context.on("page", (page) => {
    page.on("download", (download) => void take(watch, page, download));
  });
  await context.addInitScript(keepObjectUrls, REVOKED_MS);
  return {
    capture(cdp, response) {
      const kind = kindOf(response);
      if (kind === "page") return false;
      void hold(watch, cdp, response, kind === "download");
      return true;
    },
    pending: () => watch.pending,
  };
}

/** What the browser will do with a response: it shows a page, saves a file, or decides by what this code does not know. */
function kindOf({ networkId, responseStatusCode = 0, responseHeaders = [] }: HeldResponse) {
  const header = (name: string) =>
    responseHeaders
      .find((each) => each.name.toLowerCase() === name)
      ?.value.trim()
      .toLowerCase() ?? "";
  if (responseStatusCode < 200 || responseStatusCode > 299 || responseStatusCode === 204) return "page";
  if (/^attachment\b/.test(header("content-disposition"))) return "download";
  // A link with a `download` attribute: Chromium requests it for no document.
  if (networkId === undefined) return "download";
  return SHOWN_TYPES.test(header("content-type")) ? "page" : "unknown";
}

const SHOWN_TYPES =
  /^($|(text\/(html|plain|xml|css|javascript|event-stream)|application\/(json|javascript|xml|[\w.-]+\+(xml|json))|image\/|audio\/|video\/|multipart\/))/;

async function hold(watch: Watch, cdp: CDPSession, response: HeldResponse, isDownload: boolean) {
  const { requestId, request, responseStatusCode: responseCode = 200, responseHeaders = [] } = response;
  if (watch.pending >= DOWNLOADS_AT_ONCE_MAX) {
    void watch.onDownload({ url: request.url, name: nameOf(request.url), failure: TOO_MANY });
    await cdp.send("Fetch.failRequest", { requestId, errorReason: "Aborted" }).catch(() => {});
    return;
  }
  watch.pending += 1;
  const body = await within(watch.readMs, readBody(cdp, requestId));
  const waiting = watch.bodies.get(request.url) ?? [];
  watch.bodies.set(request.url, [...waiting, body]);
  const forget = setTimeout(() => {
    // The browser showed it as a page, or the page has gone.
    if (takeBody(watch, request.url, body)) watch.pending -= 1;
  }, ANNOUNCE_MS_MAX);
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

/** Headers about the form in which a body travels: it is given to the browser decoded. */
const BODY_HEADERS = new Set(["content-encoding", "content-length", "transfer-encoding"]);

async function readBody(cdp: CDPSession, requestId: string): Promise<Body> {
  const { stream } = await cdp.send("Fetch.takeResponseBodyAsStream", { requestId });
  return readStream(cdp, stream);
}

async function readStream(cdp: CDPSession, handle: string): Promise<Body> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for (;;) {
      const { data, base64Encoded, eof } = await cdp.send("IO.read", { handle, size: CHUNK_BYTES });
      const chunk = Buffer.from(data, base64Encoded ? "base64" : "utf8");
      size += chunk.length;
      if (size > DOWNLOAD_BYTES_MAX) return { failure: TOO_LARGE };
      chunks.push(chunk);
      if (eof) return { bytes: Buffer.concat(chunks) };
    }
  } finally {
    await cdp.send("IO.close", { handle }).catch(() => {});
  }
}

/** @returns whether the body was still waiting. */
function takeBody({ bodies }: Watch, url: string, body: Body): boolean {
  const left = bodies.get(url) ?? [];
  if (!left.includes(body)) return false;
  if (left.length === 1) bodies.delete(url);
  else
    bodies.set(
      url,
      left.filter((each) => each !== body),
    );
  return true;
}

/** Reports a download that the browser has announced. The browser itself writes no file. */
async function take(watch: Watch, page: Page, download: Download): Promise<void> {
  void download.cancel().catch(() => {});
  const url = download.url();
  const name = cleanName(download.suggestedFilename());
  const about = { url: url.slice(0, 2_000), name };
  const held = watch.bodies.get(url)?.[0];
  if (!held && watch.pending >= DOWNLOADS_AT_ONCE_MAX)
    return watch.onDownload({ ...about, failure: TOO_MANY });
  if (held) takeBody(watch, url, held);
  else watch.pending += 1;
  try {
    const body = held ?? (await within(watch.readMs, readAgain(watch, page, url)));
    await watch.onDownload({ ...about, ...body });
    await closeEmptyTab(watch, url);
  } finally {
    watch.pending -= 1;
  }
}

/** A tab that was opened for a download alone has nothing to show, and stays open in a browser without windows. */
async function closeEmptyTab({ navigations }: Watch, url: string): Promise<void> {
  const request = navigations.get(url);
  navigations.delete(url);
  for (let round = 0; request && round < TAB_ROUNDS; round += 1) {
    const page = pageOf(request);
    if (page?.url() === "") await page.close().catch(() => {});
    if (page) return;
    // The tab is announced a little later than what it requests.
    await new Promise((resolve) => setTimeout(resolve, TAB_ROUND_MS));
  }
}

/** A page that is busy does not answer, and a server may stop in the middle. */
async function within(timeoutMs: number, reading: Promise<Body>): Promise<Body> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Body>((resolve) => {
    const failure = `it was not complete after ${timeoutMs / 1_000} s`;
    timer = setTimeout(() => resolve({ failure }), timeoutMs);
  });
  const read = reading.catch((error): Body => ({ failure: reasonOf(error) }));
  return Promise.race([read, late]).finally(() => clearTimeout(timer));
}

/** Reads a download whose response the service did not hold: data of the page itself, or of a window that just opened. */
async function readAgain({ context, refuse }: Watch, page: Page, url: string): Promise<Body> {
  if (url.startsWith("data:")) {
    const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
    return bytes.length > DOWNLOAD_BYTES_MAX ? { failure: TOO_LARGE } : { bytes };
  }
  const pages = [page, ...context.pages()].filter((each) => !each.isClosed());
  if (url.startsWith("blob:")) return readBlob(context, pages, url);
  const refusal = await refuse(url);
  if (refusal !== undefined) return { failure: refusal };
  for (const each of new Set(pages)) {
    const cdp = await context.newCDPSession(each).catch(() => undefined);
    const body = await (cdp && loadFile(cdp, url).finally(() => cdp.detach().catch(() => {})))?.catch(
      () => {},
    );
    if (body) return body;
  }
  return { failure: "the page that offered it has gone" };
}

/** Requests a file once more, with the cookies of the page. @returns undefined when the page may not request it. */
async function loadFile(cdp: CDPSession, url: string): Promise<Body | undefined> {
  const { frameTree } = await cdp.send("Page.getFrameTree");
  const { resource } = await cdp.send("Network.loadNetworkResource", {
    frameId: frameTree.frame.id,
    url,
    options: { disableCache: false, includeCredentials: true },
  });
  if (!resource.success || resource.stream === undefined) return undefined;
  return readStream(cdp, resource.stream);
}

/**
 * Reads the object behind a `blob:` address, which only the page's own scripts hold. A policy of the page about requests
 * (`connect-src`) does not apply, because nothing is requested.
 */
async function readBlob(context: BrowserContext, pages: Page[], url: string): Promise<Body> {
  for (const page of new Set(pages))
    for (const frame of page.frames()) {
      const isMain = frame === page.mainFrame();
      const cdp = await context.newCDPSession(isMain ? page : frame).catch(() => undefined);
      if (!cdp) continue;
      try {
        const handle = await findBlob(cdp, url);
        if (handle !== undefined) return await readStream(cdp, handle);
      } catch {
        // The frame was left meanwhile; another one may hold the object.
      } finally {
        await cdp.detach().catch(() => {});
      }
    }
  return { failure: "the page does not hold its content any more" };
}

/** A file name without folders and control characters, cut at a limit with its extension kept. */
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

const reasonOf = (error: unknown) =>
  String(error instanceof Error ? error.message : error).split("\n")[0] ?? "it could not be read";
