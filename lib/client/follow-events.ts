import { type Connection, sendRequest } from "./call-operation.ts";
import { createEventStreamParser } from "./parse-event-stream.ts";
import { backoff, pause } from "./pause.ts";
import { ApiError, ConnectionError, isTransient } from "./service-error.ts";
import type { DomainEvent, MessageDelta } from "./wire.ts";

/** The ids of one accepted message. The answers to session creation and to follow-ups have both. */
export type RequestRef = { sessionId: string; requestId: string };

/** An event of a request: a stored one with its number, or a piece of a message while it is written. */
export type StreamEvent = DomainEvent | MessageDelta;

export type FollowOptions = {
  /** Only events with a higher sequence number. */
  after?: number | undefined;
  /** Stops the stream; the iterator then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Silence after which a connection counts as lost. The service sends something every 15 s. Default 45 s. */
  silenceMaxMs?: number | undefined;
};

/**
 * Streams the events of a request up to its last one, each stored event exactly once and in order. After a lost
 * connection it reconnects, with growing waits, and resumes after the last event seen. Pieces of a message
 * (`message.delta`) may then be repeated from the start of the message: place them by `attempt` and `offset`.
 *
 * @throws ApiError if a retry would be refused in the same way.
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
      // There are no more events.
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
        // The service ended the stream properly: the next answer says whether there are more events.
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

/** The stream of a steering message may include the turn that it joined: only the end of its own request is the last. */
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
        // Whatever broke the connection, the stream can be resumed.
        reject(new ConnectionError("the stream was interrupted", { cause: error })),
      )
      .finally(() => clearTimeout(timer));
  });
}
