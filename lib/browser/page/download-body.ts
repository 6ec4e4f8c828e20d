import type { BrowserContext, CDPSession, Page } from "playwright";
import { errorText } from "#lib/text/error-text.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { findBlob } from "./object-urls.ts";

/** The bytes of a download, or the reason why they could not be read. Pass it to {@link releaseBody} after its use. */
export type DownloadBody = { bytes: Uint8Array } | { failure: string };

/** Most bytes of one download. */
const DOWNLOAD_BYTES_MAX = 50 * 2 ** 20;
/** Most bytes of downloads that the process holds at a time, for all browsers. */
const HELD_BYTES_MAX = 200 * 2 ** 20;
const CHUNK_BYTES = 2 ** 20;
/** Longest `data:` URL that is decoded. Percent-encoding makes each byte three characters. */
const DATA_URL_CHARS_MAX = 3 * DOWNLOAD_BYTES_MAX;
const TOO_LARGE = `it is larger than ${DOWNLOAD_BYTES_MAX / 2 ** 20} MiB`;
const NO_ROOM = "the service was storing other large downloads; try it again";

/** Number of bytes of downloads that the process holds. */
let heldBytes = 0;

/** Counts bytes as held. @returns false if the process would hold too many. */
function hold(bytes: number): boolean {
  if (heldBytes + bytes > HELD_BYTES_MAX) return false;
  heldBytes += bytes;
  return true;
}

/** Makes room for other downloads, once the bytes of a download are stored or dropped. */
export function releaseBody(body: DownloadBody): void {
  if ("bytes" in body) heldBytes -= body.bytes.length;
}

/** Reads the body of a paused response. */
export async function readResponse(cdp: CDPSession, requestId: string): Promise<DownloadBody> {
  const { stream } = await cdp.send("Fetch.takeResponseBodyAsStream", { requestId });
  return readStream(cdp, stream);
}

async function readStream(cdp: CDPSession, handle: string): Promise<DownloadBody> {
  const chunks: Buffer[] = [];
  let size = 0;
  let body: DownloadBody | undefined;
  try {
    while (body === undefined) {
      const { data, base64Encoded, eof } = await cdp.send("IO.read", { handle, size: CHUNK_BYTES });
      const chunk = Buffer.from(data, base64Encoded ? "base64" : "utf8");
      if (size + chunk.length > DOWNLOAD_BYTES_MAX) return { failure: TOO_LARGE };
      if (!hold(chunk.length)) return { failure: NO_ROOM };
      size += chunk.length;
      chunks.push(chunk);
      if (eof) body = { bytes: Buffer.concat(chunks) };
    }
    return body;
  } finally {
    if (body === undefined) heldBytes -= size;
    await cdp.send("IO.close", { handle }).catch(() => {});
  }
}

/**
 * Limits how long reading a body may take, because a busy page does not answer and a server may stop sending. A body
 * that arrives later is released.
 */
export async function within(timeoutMs: number, reading: Promise<DownloadBody>): Promise<DownloadBody> {
  const failWith = (error: unknown): DownloadBody => ({ failure: reasonOf(error) });
  const read = reading.catch(failWith);
  return createDeadline({ ms: timeoutMs, lateMessage: `it was not complete after ${timeoutMs / 1_000} s` })
    .race(read)
    .catch((error) => {
      void read.then(releaseBody);
      return failWith(error);
    });
}

/** What a download is read with: the context of the page, and why the service may not request a URL, if it may not. */
type DownloadSource = { context: BrowserContext; refuse: (url: string) => Promise<string | undefined> };

/**
 * Reads a download whose response was not captured. Either the download has a `data:` or `blob:` URL, or its request
 * came from a window that had just opened.
 */
export async function readAgain(
  { context, refuse }: DownloadSource,
  page: Page,
  url: string,
): Promise<DownloadBody> {
  if (url.startsWith("data:")) {
    if (url.length > DATA_URL_CHARS_MAX) return { failure: TOO_LARGE };
    const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
    if (bytes.length > DOWNLOAD_BYTES_MAX) return { failure: TOO_LARGE };
    return hold(bytes.length) ? { bytes } : { failure: NO_ROOM };
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

/** Requests a file again with the cookies of the page. @returns undefined if the request fails. */
async function loadFile(cdp: CDPSession, url: string): Promise<DownloadBody | undefined> {
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
 * Reads the object of a `blob:` URL, which exists only inside the page. The page's `connect-src` policy has no effect,
 * because the browser makes no request.
 */
async function readBlob(context: BrowserContext, pages: Page[], url: string): Promise<DownloadBody> {
  for (const page of new Set(pages))
    for (const frame of page.frames()) {
      const isMain = frame === page.mainFrame();
      const cdp = await context.newCDPSession(isMain ? page : frame).catch(() => undefined);
      if (!cdp) continue;
      try {
        const handle = await findBlob(cdp, url);
        if (handle !== undefined) return await readStream(cdp, handle);
      } catch {
        // The frame may have navigated. Another frame may have the object.
      } finally {
        await cdp.detach().catch(() => {});
      }
    }
  return { failure: "the page does not hold its content any more" };
}

const reasonOf = (error: unknown) => errorText(error).split("\n")[0] ?? "it could not be read";
