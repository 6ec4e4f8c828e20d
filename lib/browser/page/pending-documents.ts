import type { BrowserContext, Frame, Page, Request, Response } from "playwright";
import { shorten } from "#lib/text/shorten.ts";
import type { ListenerGuard } from "../process/listener-guard.ts";
import { pageOf } from "./page-of-request.ts";

/**
 * A document that a frame has requested and whose server has not answered yet. Until it answers, the frame shows its
 * current document. `sinceMs` is the time of the request. If the frame requests documents again and again, it is the
 * time of the first of these requests. `isRedirect` says whether a server redirected the request to this address.
 */
export type PendingDocument = { url: string; sinceMs: number; isRedirect: boolean };

/** The documents that the pages of one browser wait for. */
export type PendingDocuments = {
  /** Returns the document that the frame waits for. */
  of: (frame: Frame) => PendingDocument | undefined;
  /** Returns the documents of new tabs. Playwright announces a tab only when the server of its document has answered. */
  ofNewPages: () => PendingDocument[];
  /** Calls `listener` when a frame begins or ceases to wait. @returns a function that stops the calls. */
  follow: (listener: () => void) => () => void;
};

const URL_CHARS_MAX = 2_000;
/** Maximum numbers of frames and of new tabs. Further ones do not count as waiting. */
const FRAMES_MAX = 1_000;
const NEW_PAGES_MAX = 50;
/** A request that follows this soon after a canceled request of the same frame continues the frame's wait. */
const REPEAT_MS_MAX = 200;

type Pending = PendingDocument & { request: Request };

/** Starts to follow the requests for documents in a context's pages. */
export function watchDocuments(context: BrowserContext, guard: ListenerGuard): PendingDocuments {
  const pending = new Map<Frame, Pending>();
  const inNewPages = new Map<Request, PendingDocument>();
  /** The last canceled wait of each frame. */
  const canceled = new WeakMap<Frame, { sinceMs: number; endedMs: number }>();
  const listeners = new Set<() => void>();
  const notify = () => {
    for (const listener of [...listeners]) listener();
  };

  const onRequest = (request: Request) => {
    if (!request.isNavigationRequest() || request.serviceWorker()) return;
    const nowMs = performance.now();
    const url = shorten(request.url(), URL_CHARS_MAX);
    const isRedirect = request.redirectedFrom() !== null;
    const frame = pageOf(request) && request.frame();
    if (!frame) {
      if (inNewPages.size < NEW_PAGES_MAX) inNewPages.set(request, { url, sinceMs: nowMs, isRedirect });
    } else {
      if (pending.size >= FRAMES_MAX && !pending.has(frame)) return;
      const before = canceled.get(frame);
      const isRepeat = before !== undefined && nowMs - before.endedMs <= REPEAT_MS_MAX;
      const sinceMs = pending.get(frame)?.sinceMs ?? (isRepeat ? before.sinceMs : nowMs);
      pending.set(frame, { url, sinceMs, isRedirect, request });
    }
    notify();
  };
  const end = (request: Request): Frame | undefined => {
    if (inNewPages.delete(request)) notify();
    for (const [frame, each] of pending)
      if (each.request === request) {
        pending.delete(frame);
        canceled.delete(frame);
        notify();
        return frame;
      }
    return undefined;
  };
  const onFailed = (request: Request) => {
    const sinceMs = [...pending.values()].find((each) => each.request === request)?.sinceMs;
    const frame = end(request);
    if (frame && sinceMs !== undefined) canceled.set(frame, { sinceMs, endedMs: performance.now() });
  };
  const onPage = (page: Page) => {
    const forget = (isGone: (frame: Frame) => boolean) => {
      for (const frame of pending.keys()) if (isGone(frame)) pending.delete(frame);
      notify();
    };
    page.on(
      "framedetached",
      guard((detached) => forget((frame) => frame === detached)),
    );
    page.on(
      "close",
      guard(() => forget((frame) => frame.page() === page)),
    );
  };
  context.on("page", guard(onPage));
  context.on("request", guard(onRequest));
  context.on(
    "response",
    guard((response: Response) => void end(response.request())),
  );
  context.on(
    "requestfinished",
    guard((request) => void end(request)),
  );
  context.on("requestfailed", guard(onFailed));

  return {
    of: (frame) => pending.get(frame),
    ofNewPages: () => [...inNewPages.values()],
    follow(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** A page's current document cannot be read by scripts, because Chromium holds their commands back. */
export class PendingDocumentError extends Error {
  readonly document: PendingDocument;

  constructor(document: PendingDocument) {
    super(describePending(document));
    this.document = document;
  }
}

/** Describes in one sentence, without an address, for how long a document has been pending. */
export const describePending = ({ sinceMs }: PendingDocument): string =>
  `A navigation of the page is pending: its server has not answered for ${((performance.now() - sinceMs) / 1_000).toFixed(1)} s.`;

/** How long a document may be pending until the page counts as stalled. Most servers answer sooner. */
const STALL_MS = 1_000;

/** Whether a page that waits for this document counts as stalled. */
export const isStalled = ({ sinceMs }: PendingDocument) => performance.now() - sinceMs >= STALL_MS;

/**
 * Waits for work on a page's current document. While a navigation of the page is pending, Chromium passes no command to
 * the document, so the work would wait for the server of the next document.
 * @throws PendingDocumentError when the next document of the page has been pending for `STALL_MS`; otherwise the error
 * of the work.
 */
export async function unlessStalled<Result>(
  documents: PendingDocuments,
  page: Page,
  work: () => Promise<Result>,
): Promise<Result> {
  const stalled = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const check = () => {
    clearTimeout(timer);
    const document = documents.of(page.mainFrame());
    if (!document) return;
    if (isStalled(document)) stalled.reject(new PendingDocumentError(document));
    else timer = setTimeout(check, document.sinceMs + STALL_MS - performance.now());
  };
  const unfollow = documents.follow(check);
  // Ignores the failure if the page stalls after the work.
  stalled.promise.catch(() => {});
  try {
    check();
    const pending = documents.of(page.mainFrame());
    if (pending && isStalled(pending)) throw new PendingDocumentError(pending);
    const working = work();
    // Ignores a failure after the page has stalled.
    working.catch(() => {});
    return await Promise.race([stalled.promise, working]);
  } finally {
    unfollow();
    clearTimeout(timer);
  }
}
