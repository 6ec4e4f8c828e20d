import type { TranscriptMessage } from "../state/view-types.ts";
import { type ActionOutcome, callAction } from "./call-action.ts";

/**
 * Number of sequence numbers in the first window. The window contains at most this many messages, and fewer if the
 * numbers have gaps.
 */
const WINDOW = 400;
const PAGE = 200;

/** Messages of the transcript, oldest first, and whether the transcript has messages before the first of them. */
export type EarlierMessages = { messages: TranscriptMessage[]; hasEarlier: boolean };

/**
 * Reads messages directly before the sequence number `before`. The API lists messages only forwards, so this function
 * reads a window of sequence numbers that ends at `before`. If the window contains no message, it is widened.
 */
export async function readEarlier(
  path: string,
  before: number,
  fetcher: typeof fetch,
): Promise<ActionOutcome<EarlierMessages>> {
  for (let window = WINDOW; ; window *= 8) {
    const start = Math.max(0, before - 1 - window);
    const outcome = await readWindow(path, start, before, fetcher);
    if (!outcome.isDone) return outcome;
    if (outcome.answer.length > 0 || start === 0)
      return { isDone: true, answer: { messages: outcome.answer, hasEarlier: start > 0 } };
  }
}

/** Reads all messages with `after < seq < before`. */
async function readWindow(
  path: string,
  after: number,
  before: number,
  fetcher: typeof fetch,
): Promise<ActionOutcome<TranscriptMessage[]>> {
  const messages: TranscriptMessage[] = [];
  let cursor = after;
  while (cursor < before - 1) {
    const outcome = await callAction<MessagePage>(fetcher, "GET", `${path}?limit=${PAGE}&cursor=${cursor}`);
    if (!outcome.isDone) return outcome;
    const { data, nextCursor } = outcome.answer;
    messages.push(...data.filter(({ seq }) => seq < before));
    cursor = nextCursor === null ? before : Number(nextCursor);
  }
  return { isDone: true, answer: messages };
}

type MessagePage = { data: TranscriptMessage[]; nextCursor: string | null };
