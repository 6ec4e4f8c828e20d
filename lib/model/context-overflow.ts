import type { ModelFailure } from "./failure.ts";

/**
 * Sentences with which providers refuse a prompt that is too large. No provider has a separate status for this error.
 */
const SENTENCES = [
  /context[ _-]?(length|window|size|limit)/i,
  /(prompt|input|request)( message)?s? (is|are|was) too (long|large)/i,
  /(input|prompt) (token count|length|tokens?)\b.{0,80}\bexceed/i,
  /too many (input |prompt )?tokens\b(?! per)/i,
  /reduce the length of the (messages|prompt|input)/i,
];

/**
 * Whether a provider refused a prompt because it exceeds the model's context. A rate limit in tokens per minute does
 * not count.
 */
export const isContextOverflow = ({ message, statusCode, isRetryable }: ModelFailure): boolean =>
  !isRetryable && statusCode !== 429 && SENTENCES.some((sentence) => sentence.test(message));
