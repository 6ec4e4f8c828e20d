import type { ReceiptList } from "#lib/client/wire.ts";
import { callAction } from "./call-action.ts";

/** How long to wait before each further request, while the receipts are being made. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];

/**
 * Reads the receipts of a run's result, and waits while they are being made.
 *
 * @param session the path of the session's records.
 * @returns undefined if there are none, or if they cannot be read.
 */
export async function readReceipts(
  fetcher: typeof fetch,
  session: string,
  runId: string,
  signal: AbortSignal,
): Promise<ReceiptList["data"] | undefined> {
  for (const pauseMs of [...PAUSES_MS, undefined]) {
    const path = `${session}/deliverable/receipts?runId=${encodeURIComponent(runId)}`;
    const outcome = await callAction<ReceiptList>(fetcher, "GET", path);
    if (signal.aborted || !outcome.isDone || outcome.answer.state === "none") return undefined;
    if (outcome.answer.state === "ready") return outcome.answer.data;
    if (pauseMs === undefined) return undefined;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pauseMs);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    });
    if (signal.aborted) return undefined;
  }
  return undefined;
}
