import type { Readable } from "node:stream";

const END_OF_MESSAGE = 0;
/** How many bytes of the start and of the end of a message are kept if the message is too large to be kept whole. */
const ENDS_BYTES = 200;

/** The start and the end of a message that was too large to be kept. */
export type MessageEnds = { head: Buffer; tail: Buffer };

type MessageHandlers = {
  onMessage: (data: Buffer) => void;
  /** Called for a message of more than `keptBytesMax`. */
  onHuge: (ends: MessageEnds) => void;
  /** Called when the stream has ended, also because of a message of more than `bytesMax`. May be called again. */
  onEnd: () => void;
};

/**
 * Splits a stream into messages at zero bytes. At most `keptBytesMax` bytes of an incomplete message are in memory: the
 * middle of a larger one is discarded as it arrives.
 */
export function splitMessages(
  stream: Readable,
  { keptBytesMax, bytesMax }: { keptBytesMax: number; bytesMax: number },
  { onMessage, onHuge, onEnd }: MessageHandlers,
): void {
  let parts: Buffer[] = [];
  let huge: MessageEnds | undefined;
  let bytes = 0;
  const end = () => {
    parts = [];
    huge = undefined;
    stream.destroy();
    onEnd();
  };
  const add = (part: Buffer) => {
    bytes += part.length;
    if (huge) {
      // A copy, because a part of a chunk would keep the whole chunk in memory.
      huge.tail = Buffer.concat([huge.tail, part.subarray(-ENDS_BYTES)]).subarray(-ENDS_BYTES);
      return;
    }
    parts.push(part);
    if (bytes <= keptBytesMax) return;
    const whole = Buffer.concat(parts);
    huge = {
      head: Buffer.from(whole.subarray(0, ENDS_BYTES)),
      tail: Buffer.from(whole.subarray(-ENDS_BYTES)),
    };
    parts = [];
  };
  const finish = () => {
    const [kept, ends] = [parts, huge];
    parts = [];
    huge = undefined;
    bytes = 0;
    if (ends) onHuge(ends);
    else onMessage(kept.length === 1 && kept[0] ? kept[0] : Buffer.concat(kept));
  };
  stream.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let at = chunk.indexOf(END_OF_MESSAGE); at !== -1; at = chunk.indexOf(END_OF_MESSAGE, start)) {
      add(chunk.subarray(start, at));
      start = at + 1;
      finish();
    }
    if (start < chunk.length) add(chunk.subarray(start));
    if (bytes > bytesMax) end();
  });
  stream.on("error", end);
  stream.on("close", end);
}
