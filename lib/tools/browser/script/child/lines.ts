/**
 * Longest line that the script's process may write, in bytes. A longer message is written in several lines, of which
 * all but the last begin with `+`, so that the service can refuse too long ones while it reads them.
 */
export const LINE_BYTES_MAX = 2 ** 20;
/** The first byte of a line that does not end its message: `+`. No JSON object begins with it. */
export const MORE = 43;

/** Splits a message into the lines to write. */
export function* splitMessage(json: string): Generator<Buffer> {
  const bytes = Buffer.from(`${json}\n`);
  let start = 0;
  // A line that does not end the message has a `+` and a line break of its own.
  for (; bytes.byteLength - start > LINE_BYTES_MAX; start += LINE_BYTES_MAX - 2)
    yield Buffer.concat([Buffer.of(MORE), bytes.subarray(start, start + LINE_BYTES_MAX - 2), Buffer.of(10)]);
  yield start === 0 ? bytes : bytes.subarray(start);
}
