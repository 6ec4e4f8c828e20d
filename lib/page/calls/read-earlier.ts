import type { TranscriptMessage } from "../state/view-types.ts";
import { type ActionOutcome, callAction } from "./call-action.ts";

/** Number of sequence numbers in the first window. Numbers have gaps, so it holds fewer messages. */
const WINDOW = 400;
const PAGE = 200;

/** Messages before a point of the transcript, oldest first, and whether there are earlier ones. */
export type EarlierMessages = { messages: TranscriptMessage[]; hasEarlier: boolean };

/**
 * Reads the messages that come directly before the sequence number `before`. The API lists messages forwards only, so
 * this reads a window of sequence numbers that ends there, and widens the window while it is empty.
 */
export async function readEarlier(
  path: string,
  before: number,
  fetcher: typeof fetch = (...request) => fetch(...request),
): Promise<ActionOutcome<EarlierMessages>> {
  for (let window = WINDOW; ; window *= 8) {
    const start = Math.max(0, before - 1 - window);
    const outcome = await readWindow(path, start, before, fetcher);
    if (!outcome.isDone) return outcome;
    if (outcome.answer.length > 0 || start === 0)
      return { isDone: true, answer: { messages: outcome.answer, hasEarlier: start > 0 } };
  }
}

/** All messages with `after < seq < before`. */
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
