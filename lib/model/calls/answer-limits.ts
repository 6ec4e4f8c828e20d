const MEBIBYTE = 1_048_576;

/** Limits on the answer to one model call. */
export const ANSWER_LIMITS = {
  /** Bytes of text, reasoning, tool arguments and the provider's data about them. A million tokens have about 4 MiB. */
  bytesMax: 4 * MEBIBYTE,
  /** Blocks of text and reasoning. */
  partsMax: 1_000,
  callsMax: 128,
  /** Bytes that the provider sends for a streamed answer, after decompression. An event adds up to 300 bytes to a token. */
  streamBytesMax: 64 * MEBIBYTE,
  /** Bytes of one event of the stream. The last event of a Responses stream repeats the whole answer. */
  eventBytesMax: 8 * MEBIBYTE,
  /** Bytes of an answer that is not streamed. */
  bodyBytesMax: 4 * MEBIBYTE,
  /** Bytes of an error answer. The rest is not read. */
  errorBytesMax: 65_536,
} as const;

/** Thrown when an answer exceeds a limit. The call is ended then, and nothing of the answer is used. */
export class AnswerTooLargeError extends Error {
  /** @param reason what is too large, such as `it has more than 128 tool calls`. */
  constructor(reason: string) {
    super(`The model's answer was ended, because ${reason}.`);
    this.name = "AnswerTooLargeError";
  }
}

/** Writes a number of bytes as MiB. */
export const inMebibytes = (bytes: number): string => `${bytes / MEBIBYTE} MiB`;
