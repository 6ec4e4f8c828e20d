import { type Connection, sendRequest } from "./call-operation.ts";
import { createEventStreamParser } from "./parse-event-stream.ts";
import { backoff, pause } from "./pause.ts";
import { ApiError, ConnectionError, isTransient } from "./service-error.ts";
import type { DomainEvent, MessageDelta } from "./wire.ts";

/** The ids of one accepted message. The responses to creating a session and to posting a message contain both. */
export type RequestRef = { sessionId: string; requestId: string };

/**
 * An event of a request: a stored event with a sequence number, or a chunk (`message.delta`) of the message that the
 * model is writing.
 */
export type StreamEvent = DomainEvent | MessageDelta;

export type FollowOptions = {
  /** Sequence number after which the stream starts. Default 0. */
  after?: number | undefined;
  /** Stops the stream; the iterator then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * Milliseconds without data after which a connection counts as lost. The service sends data at least every 15 s.
   * Default 45 s.
   */
  silenceMaxMs?: number | undefined;
};

/**
 * Streams the events of a request, up to and including the last one. Delivers each stored event exactly once and in
 * order. After a lost connection it reconnects with a growing delay and resumes after the last event received.
 *
 * After a reconnect, the service may send the chunks of a message (`message.delta`) again from the start of the
 * message. The fields `attempt` and `offset` show the position of a chunk in its message.
 */
export async function* followEvents(
  connection: Connection,
  { sessionId, requestId }: RequestRef,
  { after = 0, signal, silenceMaxMs = 45_000 }: FollowOptions = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  let seen = after;
  let failures = 0;
  let retryMs = 1_000;
  for (;;) {
    const connectionAbort = new AbortController();
    const abort = () => connectionAbort.abort(signal?.reason);
    if (signal?.aborted) throw signal.reason;
    signal?.addEventListener("abort", abort, { once: true });
    const before = seen;
    try {
      const headers = seen > 0 ? { "last-event-id": String(seen) } : {};
      const input = { sessionId, requestId };
      const response = await sendRequest(connection, "streamRequest", input, {
        headers,
        signal: connectionAbort.signal,
      });
      // The service answers 204 if there are no more events.
      if (response.status === 204 || !response.body) return;
      const parser = createEventStreamParser();
      for await (const text of readText(response.body, silenceMaxMs)) {
        for (const { id, data } of parser.feed(text)) {
          const event = JSON.parse(data) as StreamEvent;
          if (id !== undefined) {
            if (Number(id) <= seen) continue;
            seen = Number(id);
          }
          yield event;
          if (isLast(event, requestId)) return;
        }
        retryMs = parser.retryMs() ?? retryMs;
      }
      if (seen > before) {
        // The service ended the stream after some events. The next request shows whether there are more events.
        failures = 0;
        continue;
      }
      failures++;
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (!isTransient(error)) throw error;
      failures = seen > before ? 1 : failures + 1;
      await pause(backoff(failures, retryMs, readRetryAfterMs(error)), signal);
      continue;
    } finally {
      signal?.removeEventListener("abort", abort);
      connectionAbort.abort();
    }
    await pause(backoff(failures, retryMs), signal);
  }
}

const readRetryAfterMs = (error: unknown) => (error instanceof ApiError ? error.retryAfterMs : undefined);

/**
 * Whether an event is the last one of the request `requestId`. If the request is a `steer` message, which joins a
 * running turn, its stream may also contain the last event of the request that started the turn. For that event, the
 * function returns false.
 */
const isLast = (event: StreamEvent, requestId: string): boolean =>
  event.kind === "run.completed" && event.willRetry === undefined && event.requestId === requestId;

async function* readText(body: ReadableStream<Uint8Array>, silenceMaxMs: number): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const part = await withinSilence(reader.read(), silenceMaxMs);
      if (part.done) return;
      yield decoder.decode(part.value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function withinSilence<Value>(reading: Promise<Value>, silenceMaxMs: number): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new ConnectionError("the stream sent nothing for too long")),
      silenceMaxMs,
    );
    reading
      .then(resolve, (error: unknown) =>
        // Every read error becomes a `ConnectionError`, because the stream can be resumed after any interruption.
        reject(new ConnectionError("the stream was interrupted", { cause: error })),
      )
      .finally(() => clearTimeout(timer));
  });
}
