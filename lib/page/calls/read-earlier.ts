import type { TranscriptMessage } from "../state/view-types.ts";
import { type ActionOutcome, callAction } from "./call-action.ts";

/** Sequence numbers looked back over at a time; they rise with every message, not by one. */
const WINDOW = 400;
const PAGE = 200;

/** Messages from before a place of the transcript, oldest first, and whether there are still earlier ones. */
export type EarlierMessages = { messages: TranscriptMessage[]; hasEarlier: boolean };

/**
 * Reads the messages that come before the one numbered `before`. The list of the API goes forwards, so a window before
 * that place is read whole; an empty one is followed by a wider one.
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
