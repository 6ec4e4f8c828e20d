import { GuardedFetchError } from "#lib/net/fetch/guarded-fetch-error.ts";

/** How much of a body may come, and who is told of its course. */
type BodyWatch = {
  host: string;
  /** Bytes of one message; of an event stream, between two of its events. */
  messageBytesMax: number;
  /** Bytes in all. */
  bytesMax: number;
  /** The body has come to an end, or broke off. */
  onEnd?: (about: { hasEventIds: boolean }) => void;
};

/** Ids stand at the beginning of the first event, where a stream has them. */
const HEAD_BYTES = 4_096;

/**
 * A response whose body is counted while it is read, and breaks off where it is too large.
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
          since = bytesAfterEvent(value) ?? since;
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

/** The bytes that follow the last end of an event in a piece of a stream; undefined where none ends in it. */
function bytesAfterEvent(piece: Uint8Array): number | undefined {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  const end = Math.max(bytes.lastIndexOf("\n\n"), bytes.lastIndexOf("\r\n\r\n"));
  return end < 0 ? undefined : piece.byteLength - end;
}
