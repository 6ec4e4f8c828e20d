import type { Page, Request, Response } from "playwright";
import { describeNetError } from "#lib/browser/page/explain-failure.ts";
import type { FreshContext } from "#lib/browser/page/open-fresh-context.ts";
import type { Box } from "#lib/tools/browser/compare/pictures.ts";
import { pageDeadline } from "#lib/tools/browser/page-deadline.ts";
import { VIEWPORTS } from "../check-report.ts";
import { forbidsScripts, readPolicies } from "../content-policy.ts";
import type { CheckContext, CheckTarget } from "./check-context.ts";
import { followWindows } from "./follow-windows.ts";
import { PageFailure } from "./page-failure.ts";
import { followProblems, type PageProblems } from "./page-problems.ts";
import {
  addWatch,
  evaluateInWorld,
  isDocumentLeft,
  type LookArgument,
  type LookName,
  type LookResult,
  openPageWorld,
  type PageWorld,
} from "./page-world.ts";
import { serveTag } from "./serve-tag.ts";

/** One load of a page in its own browser context. */
export type PageLoad = {
  page: Page;
  /** The subject of sentences about this load: `The page` or `With the variant the page`. */
  subject: string;
  problems: PageProblems;
  /** The response with which the page's first document was loaded. */
  response: Response | null;
  /** Why the script did not run as a visitor's browser runs it, as a part of a sentence. Undefined if it did. */
  tagGap: () => string | undefined;
  /** Number of unanswered requests for documents, scripts, styles and data. */
  pendingRequests: () => number;
  /** Number of dialogs, tabs and file choosers that the page has opened so far. */
  countWindows: () => number;
  /**
   * Calls a function of `lib/injected/check` inside the page, in the check's isolated world.
   *
   * @throws Error with a sentence if the page does not answer, or keeps loading other documents.
   */
  look: <Name extends LookName>(
    name: Name,
    argument: LookArgument<Name>,
    timeoutMs?: number,
  ) => Promise<LookResult<Name>>;
  /** Evaluates an expression in the page's main world, where the page can forge the result. */
  evaluateInPage: (expression: string) => Promise<unknown>;
  /** Gives `work` direct access to the check's isolated world of the current document. */
  inWorld: <Result>(timeoutMs: number, work: (world: PageWorld) => Promise<Result>) => Promise<Result>;
  /** Captures a picture of a part of the page, which is given in CSS pixels from the page's upper left corner. */
  capture: (part: Box, format?: "png" | "jpeg") => Promise<Uint8Array>;
  close: () => Promise<void>;
};

const AWAITED = new Set(["document", "stylesheet", "script", "xhr", "fetch"]);
/** Maximum number of unanswered requests that are counted. A page in a loop may begin more. */
const PENDING_MAX = 1_000;
/** Maximum number of documents that a page may load. A page that loads more cannot be checked. */
const DOCUMENTS_MAX = 5;
const OPEN_TIMEOUT_MS = 15_000;
/**
 * Our own deadlines expire this much later than Playwright's, because Playwright's errors say which step did not
 * finish.
 */
const GRACE_MS = 1_000;

/**
 * Opens a page in a new context, with the check's observer, which starts before the page's own scripts. If `hasVariant`,
 * the documents are served with the tag of the published script.
 *
 * @throws PageFailure if the page cannot be reached or answers with an error.
 */
export async function openLoad(
  check: CheckContext,
  target: CheckTarget,
  hasVariant: boolean,
): Promise<PageLoad> {
  const fresh = await openContext(check, target);
  try {
    return await load(check, target, fresh, hasVariant);
  } catch (error) {
    await fresh.close();
    throw error;
  }
}

/** Opens a load, passes it to `work`, and closes it afterwards. */
export async function withLoad<Result>(
  check: CheckContext,
  target: CheckTarget,
  hasVariant: boolean,
  work: (load: PageLoad) => Promise<Result>,
): Promise<Result> {
  const opened = await openLoad(check, target, hasVariant);
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

async function openContext(check: CheckContext, { viewport }: CheckTarget): Promise<FreshContext> {
  const { signal, live, storage } = check;
  const isMobile = viewport !== "desktop";
  const opening = live.openContext({ viewport: VIEWPORTS[viewport], isMobile, storage });
  const describeTimeout = () => "The browser did not open a page for the check.";
  try {
    return await pageDeadline(signal, OPEN_TIMEOUT_MS, describeTimeout).race(() => opening);
  } catch (error) {
    // The context may still open after the deadline. It is then closed at once.
    void opening.then((fresh) => fresh.close()).catch(() => {});
    throw error;
  }
}

async function load(
  check: CheckContext,
  target: CheckTarget,
  fresh: FreshContext,
  hasVariant: boolean,
): Promise<PageLoad> {
  const { answerMs, loadMs } = check.limits;
  const { page, cdp, guard, close } = fresh;
  const subject = hasVariant ? "With the variant the page" : "The page";
  const problems = followProblems(page, guard);
  const pending = followRequests(fresh);
  const countWindows = followWindows(fresh);
  const documents = followDocuments(fresh);
  const within = createDeadlines(check.signal, fresh, subject);

  const delivery = await within(answerMs, async () => {
    await addWatch(cdp, target.changes, check.tagUrl);
    return hasVariant ? serveTag(fresh, check) : undefined;
  });
  const open = () => within(loadMs + GRACE_MS, () => go(fresh, target.url, loadMs));
  const response = await open().catch((error) => {
    if (delivery?.isDropped() !== true) throw error;
    return open();
  });
  const status = response?.status() ?? 0;
  if (status === 401 && (await response?.headerValue("www-authenticate")))
    throw new PageFailure(
      `${subject} asks for a user name and a password (HTTP authentication), which cannot be copied from the session.`,
    );
  if (status >= 400) throw new PageFailure(`${subject} answered with the status ${status}.`);
  if (forbidsScripts(await readPolicies(response)))
    throw new PageFailure(
      `The page's Content-Security-Policy (sandbox) forbids scripts, so no published script can run on it. Add allow-scripts to its sandbox directive.`,
    );
  await within(loadMs + GRACE_MS, () => untilLoaded(page, loadMs));

  async function look<Name extends LookName>(
    name: Name,
    argument: LookArgument<Name>,
  ): Promise<LookResult<Name>> {
    for (;;) {
      const seen = documents.count();
      if (seen > DOCUMENTS_MAX)
        throw new PageFailure(`${subject} keeps loading other documents; it now shows ${page.url()}.`);
      try {
        return await evaluateInWorld(await openPageWorld(cdp), name, argument);
      } catch (error) {
        if (!isDocumentLeft(error) || page.isClosed()) throw error;
        // The page loaded another document during the call, so the function runs again in the new document.
        await documents.untilNext(seen);
      }
    }
  }

  return {
    page,
    subject,
    problems,
    response,
    tagGap: () => delivery?.gap(),
    pendingRequests: () => pending.size,
    countWindows,
    look: (name, argument, timeoutMs = answerMs) => within(timeoutMs, () => look(name, argument)),
    evaluateInPage: (expression) =>
      within(answerMs + GRACE_MS, async () => {
        const options = { expression, returnByValue: true, timeout: answerMs };
        const { result } = await cdp.send("Runtime.evaluate", options);
        return result.value as unknown;
      }),
    inWorld: (timeoutMs, work) => within(timeoutMs, async () => work(await openPageWorld(cdp))),
    capture: (part, format = "png") =>
      within(answerMs, async () => {
        const options = { format, clip: { ...part, scale: 1 }, captureBeyondViewport: true };
        const { data } = await cdp.send("Page.captureScreenshot", options);
        return Buffer.from(data, "base64");
      }),
    close,
  };
}

/**
 * Creates a function that runs work on a page. The promise that the created function returns rejects when the deadline
 * passes, the check is stopped or the page crashes.
 */
function createDeadlines(signal: AbortSignal, { page, guard }: FreshContext, subject: string) {
  const crashed = Promise.withResolvers<never>();
  // Prevents an unhandled rejection if the page crashes while no work is running.
  crashed.promise.catch(() => {});
  page.on(
    "crash",
    guard(() => crashed.reject(new PageFailure(`${subject} crashed.`))),
  );
  const describeTimeout = (seconds: number) =>
    `${subject} did not answer within ${seconds} s: its scripts are busy, or never end.`;
  return <Result>(timeoutMs: number, work: () => Promise<Result>): Promise<Result> =>
    pageDeadline(signal, timeoutMs, describeTimeout).race(() => Promise.race([work(), crashed.promise]));
}

async function go(
  { page, refuse, readRefusal }: FreshContext,
  url: string,
  timeoutMs: number,
): Promise<Response | null> {
  const fail = (reason: string) => new PageFailure(`The page could not be opened: ${reason}.`);
  const refusal = await refuse(url);
  if (refusal !== undefined) throw fail(refusal);
  try {
    return await page.goto(url, { waitUntil: "commit", timeout: timeoutMs });
  } catch (error) {
    const text = String(error);
    const reason = readRefusal();
    if (reason !== undefined) throw fail(reason);
    if (/download/i.test(text)) throw new PageFailure("The address is a download, not a page.");
    const code = /net::ERR_\w+/.exec(text)?.[0];
    if (code !== undefined) throw fail(describeNetError(code, url));
    throw new PageFailure(`The page did not answer within ${Math.round(timeoutMs / 1_000)} s.`);
  }
}

async function untilLoaded(page: Page, timeoutMs: number): Promise<void> {
  try {
    await page.waitForLoadState("load", { timeout: timeoutMs });
  } catch (error) {
    // After the timeout, the page is examined in its current state, although it is still loading.
    if (!(error instanceof Error) || error.name !== "TimeoutError") throw error;
  }
}

/**
 * Counts the documents that the main frame has loaded so far. The router of a page changes the address with
 * `pushState`, `replaceState` and fragments. DevTools reports such changes as another event, so they do not count.
 */
function followDocuments({ cdp, guard }: FreshContext): {
  count: () => number;
  /** Resolves when more than `seen` documents have been loaded. */
  untilNext: (seen: number) => Promise<void>;
} {
  let count = 0;
  let next = Promise.withResolvers<void>();
  cdp.on(
    "Page.frameNavigated",
    guard(({ frame }) => {
      if (frame.parentId !== undefined) return;
      count += 1;
      next.resolve();
      next = Promise.withResolvers();
    }),
  );
  return {
    count: () => count,
    async untilNext(seen) {
      if (count === seen) await next.promise;
    },
  };
}

function followRequests({ page, guard }: FreshContext): Set<unknown> {
  const pending = new Set<unknown>();
  const onRequest = (request: Request) => {
    // With the next document, the requests of the document before it no longer matter.
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) pending.clear();
    if (pending.size < PENDING_MAX && AWAITED.has(request.resourceType())) pending.add(request);
  };
  const onEnded = guard((request: Request) => pending.delete(request));
  page.on("request", guard(onRequest));
  page.on("requestfinished", onEnded);
  page.on("requestfailed", onEnded);
  return pending;
}
