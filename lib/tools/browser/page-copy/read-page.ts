import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import {
  describePending,
  type PendingDocument,
  PendingDocumentError,
} from "#lib/browser/page/pending-documents.ts";
import { quoteAsData } from "../../quote-as-data.ts";
import type { ToolResult } from "../../tool.ts";
import { openPageCopy } from "./open-page-copy.ts";

/** Errors of Chromium and of the service when a document is replaced while it is read. */
const REPLACED =
  /is being replaced|Cannot find context|context was destroyed|navigated or closed|Frame with the given|is gone/;

/** What was read, and a sentence for the model if it was read from a copy; undefined otherwise. */
type PageReading<Result> = { value: Result; notice: string | undefined };

/**
 * Reads the session's page. While a navigation of the page is pending, or while the page replaces its document again
 * and again, reads a copy of the current document instead. Then `read` may be called twice.
 * @param read gets the browser, whose page may be the copy.
 * @param readShown reads the page without a command to its document. It replaces the copy while a navigation is pending.
 * @throws Error if the page cannot be copied; otherwise the error of `read`.
 */
export async function readPage<Result>(
  live: LiveBrowser,
  read: (live: LiveBrowser) => Promise<Result>,
  readShown?: (live: LiveBrowser) => Promise<Result>,
): Promise<PageReading<Result>> {
  try {
    return { value: await read(live), notice: undefined };
  } catch (error) {
    const isPending = error instanceof PendingDocumentError;
    if (!isPending && !(error instanceof Error && REPLACED.test(error.message))) throw error;
    const pending = isPending ? error.document : undefined;
    if (pending && readShown) return { value: await readShown(live), notice: explainPending(pending) };
    const copy = await openPageCopy(live);
    try {
      return { value: await read(copy.live), notice: describeCopy(pending) };
    } finally {
      await copy.close();
    }
  }
}

/** Like `readPage`, for a tool whose result is what it reads. */
export async function answerFromPage(
  live: LiveBrowser,
  read: (live: LiveBrowser) => Promise<ToolResult>,
): Promise<ToolResult> {
  const { value, notice } = await readPage(live, read);
  return withNotice(value, notice);
}

/** Puts a sentence before the result of a tool. */
export const withNotice = (result: ToolResult, notice: string | undefined): ToolResult =>
  notice === undefined ? result : { ...result, content: [{ type: "text", text: notice }, ...result.content] };

const COPY =
  "What follows is read from a copy of the document that the page still shows: typed values and hidden elements are missing, and scripts cannot use its refs.";

const describeCopy = (pending: PendingDocument | undefined) =>
  pending === undefined
    ? `The page replaces its document again and again. ${COPY}`
    : `${explainPending(pending)} ${COPY}`;

/** Tells the model that a navigation is pending, where it leads, and what to do. */
const explainPending = (pending: PendingDocument): string =>
  `${describePending(pending)} ${quoteAsData("the page", `It leads to ${JSON.stringify(pending.url)}`)}
The page of before stays until then. Look again later, or leave with page.goto in a script.`;
