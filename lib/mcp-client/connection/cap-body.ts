import { GuardedFetchError } from "#lib/net/fetch/guarded-fetch-error.ts";

/** Size limits for a response body, and a callback for its end. */
type BodyWatch = {
  host: string;
  /** Maximum size of one message. In an event stream, each event is a message. */
  messageBytesMax: number;
  /** Maximum size of the whole body. */
  bytesMax: number;
  /** Called when the body ends, fails or is cancelled. */
  onEnd?: (about: { hasEventIds: boolean }) => void;
};

/** How many bytes at the start of a stream are searched for an event id. A stream with ids sends one in its first event. */
const HEAD_BYTES = 4_096;
const SEPARATOR_BYTES_MAX = "\r\n\r\n".length;

/**
 * Returns the response with a body that fails with a GuardedFetchError as soon as it exceeds a size limit.
 * Source: `security.md`, What leaves the service.
 */
export function capBody(response: Response, watch: BodyWatch): Response {
  if (!response.body) {
    watch.onEnd?.({ hasEventIds: false });
    return response;
  }
  const isStream = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
  let total = 0;
  let since = 0;
  let head = "";
  let tail = Buffer.alloc(0);
  const reader = response.body.getReader();
  const end = () => watch.onEnd?.({ hasEventIds: isStream && /(^|[\r\n])id:/.test(head) });
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          return end();
        }
        total += value.byteLength;
        since += value.byteLength;
        if (since > watch.messageBytesMax || total > watch.bytesMax) {
          const most = since > watch.messageBytesMax ? watch.messageBytesMax : watch.bytesMax;
          throw new GuardedFetchError(
            "too_large",
            `the answer of ${watch.host} is larger than ${most} bytes`,
          );
        }
        if (isStream) {
          if (head.length < HEAD_BYTES) head += Buffer.from(value).toString("latin1");
          // The separator of two events may be split between two chunks, so the end of the previous chunk is searched
          // again.
          const recent = Buffer.concat([tail, value]);
          since = bytesAfterEvent(recent) ?? since;
          tail = recent.subarray(-SEPARATOR_BYTES_MAX + 1);
        }
        controller.enqueue(value);
      } catch (error) {
        reader.cancel().catch(() => {});
        controller.error(error);
        end();
      }
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
  const { status, statusText, headers, url } = response;
  const capped = new Response(body, { status, statusText, headers });
  return Object.defineProperty(capped, "url", { value: url });
}

/** Counts the bytes from the last event separator, inclusive, to the end. Undefined if there is no separator. */
function bytesAfterEvent(bytes: Buffer): number | undefined {
  const end = Math.max(bytes.lastIndexOf("\n\n"), bytes.lastIndexOf("\r\n\r\n"));
  return end < 0 ? undefined : bytes.byteLength - end;
}
