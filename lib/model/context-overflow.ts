import type { ModelFailure } from "./failure.ts";

/** How providers say that a prompt does not fit; none of them has a status of its own for it. */
const SENTENCES = [
  /context[ _-]?(length|window|size|limit)/i,
  /(prompt|input|request)( message)?s? (is|are|was) too (long|large)/i,
  /(input|prompt) (token count|length|tokens?)\b.{0,80}\bexceed/i,
  /too many (input |prompt )?tokens\b(?! per)/i,
  /reduce the length of the (messages|prompt|input)/i,
];

/**
 * Whether a provider refused a prompt because it is larger than the model's context: the budget was set, or estimated, too
 * high. A rate limit in tokens a minute is none.
 */
export const isContextOverflow = ({ message, statusCode, isRetryable }: ModelFailure): boolean =>
  !isRetryable && statusCode !== 429 && SENTENCES.some((sentence) => sentence.test(message));
