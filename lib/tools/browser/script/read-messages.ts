import type { Readable } from "node:stream";
import { LINE_BYTES_MAX, MORE } from "./child/lines.ts";
import { type FromChild, fromChildSchema } from "./script-protocol.ts";

/**
 * Largest message that a script's process may send, in bytes, in all its lines. Large enough for a file of 20 MiB in
 * `setInputFiles`, or for the body of a fulfilled request.
 */
const MESSAGE_BYTES_MAX = 32 * 2 ** 20;

/** The process broke the rules of its pipe. The message is a sentence for the model. */
export class BrokenPipe extends Error {
  override name = "BrokenPipe";
}

const TOO_LARGE = "The script's process sent a message that is too large.";
const NOT_JSON = "The script wrote to its process's output; use console.log.";
/** The reason for the end of a script whose process sent a message that cannot be handled. */
export const INVALID_MESSAGE = "The script's process sent an invalid message.";

/**
 * Reads the messages of a script's process, each with the size of its JSON. The stream is read only as fast as the
 * caller takes messages. @throws BrokenPipe when a line or message is too large.
 */
export async function* readMessageLines(stream: Readable): AsyncGenerator<Buffer> {
  let message: Buffer[] = [];
  let messageBytes = 0;
  for await (const line of readLines(stream)) {
    const isLast = line[0] !== MORE;
    const part = isLast ? line : line.subarray(1);
    messageBytes += part.byteLength;
    // Only full lines may be continued, so that a message has a limited number of parts.
    if (messageBytes > MESSAGE_BYTES_MAX || (!isLast && line.byteLength < LINE_BYTES_MAX - 1))
      throw new BrokenPipe(TOO_LARGE);
    message.push(part);
    if (!isLast) continue;
    const [only = part] = message;
    yield message.length === 1 ? only : Buffer.concat(message);
    message = [];
    messageBytes = 0;
  }
}

/** Splits a stream into lines. @throws BrokenPipe when a line is too long. */
async function* readLines(stream: Readable): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const line = chunk.subarray(start, end);
      start = end + 1;
      if (bytes + line.byteLength >= LINE_BYTES_MAX) throw new BrokenPipe(TOO_LARGE);
      yield parts.length === 0 ? line : Buffer.concat([...parts, line]);
      parts = [];
      bytes = 0;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
    bytes += chunk.length - start;
    if (bytes >= LINE_BYTES_MAX) throw new BrokenPipe(TOO_LARGE);
  }
}

/** Parses and validates a message. @throws BrokenPipe if it is no message. */
export function parseMessage(line: Buffer): FromChild {
  let value: unknown;
  try {
    value = JSON.parse(line.toString());
  } catch {
    throw new BrokenPipe(NOT_JSON);
  }
  if (typeof value !== "object" || value === null || !("type" in value)) throw new BrokenPipe(NOT_JSON);
  const parsed = fromChildSchema.safeParse(value);
  if (!parsed.success) throw new BrokenPipe(INVALID_MESSAGE);
  return parsed.data;
}
