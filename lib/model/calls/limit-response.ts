import { ANSWER_LIMITS, AnswerTooLargeError, inMebibytes } from "./answer-limits.ts";

type Fetch = typeof globalThis.fetch;
type Meter = Transformer<Uint8Array, Uint8Array>;

/**
 * Wraps a `fetch` so that the bodies of its responses are limited: reading more than the limit fails with an
 * {@link AnswerTooLargeError}, and ends the connection. The body of an error response ends at its limit instead, so that
 * the status is not lost. Headers are limited by Node (16 KiB).
 */
export const limitResponses =
  (fetch: Fetch = (...args) => globalThis.fetch(...args)): Fetch =>
  async (...args) => {
    const response = await fetch(...args);
    const { body, status, statusText, headers } = response;
    if (!body) return response;
    const limited = body.pipeThrough(new TransformStream(chooseMeter(response)));
    // Servers can send a status that `Response` does not accept.
    return new Response(limited, { status: Math.min(status, 599), statusText, headers });
  };

function chooseMeter({ ok, headers }: Response): Meter {
  if (!ok) return truncate(ANSWER_LIMITS.errorBytesMax);
  const isJson = /\bjson\b/i.test(headers.get("content-type") ?? "");
  return isJson ? meterBody(ANSWER_LIMITS.bodyBytesMax) : meterEvents();
}

/** Ends the body after `bytesMax` bytes. */
function truncate(bytesMax: number): Meter {
  let room = bytesMax;
  return {
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, room));
      room -= chunk.byteLength;
      if (room <= 0) controller.terminate();
    },
  };
}

function meterBody(bytesMax: number): Meter {
  let bytes = 0;
  return {
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > bytesMax) throw new AnswerTooLargeError(`it is larger than ${inMebibytes(bytesMax)}`);
      controller.enqueue(chunk);
    },
  };
}

/** Limits a stream of events, and each event in it. */
function meterEvents(): Meter {
  const { streamBytesMax, eventBytesMax } = ANSWER_LIMITS;
  const measureEvent = createEventMeasure();
  let bytes = 0;
  return {
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > streamBytesMax)
        throw new AnswerTooLargeError(`the provider sent more than ${inMebibytes(streamBytesMax)} for it`);
      if (measureEvent(chunk) > eventBytesMax)
        throw new AnswerTooLargeError(`an event of its stream is larger than ${inMebibytes(eventBytesMax)}`);
      controller.enqueue(chunk);
    },
  };
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/**
 * Creates a function that takes the chunks of an event stream in order. It returns how many bytes of the largest event
 * in a chunk have arrived. An empty line ends an event.
 */
function createEventMeasure(): (chunk: Uint8Array) => number {
  let bytes = 0;
  let isLineEmpty = true;
  return (chunk) => {
    let largest = 0;
    let from = 0;
    while (from < chunk.byteLength) {
      const at = chunk.indexOf(LINE_FEED, from);
      const end = at < 0 ? chunk.byteLength : at;
      isLineEmpty &&= end === from || (end === from + 1 && chunk[from] === CARRIAGE_RETURN);
      bytes += end - from;
      largest = Math.max(largest, bytes);
      if (at >= 0) {
        if (isLineEmpty) bytes = 0;
        isLineEmpty = true;
      }
      from = end + 1;
    }
    return largest;
  };
}
