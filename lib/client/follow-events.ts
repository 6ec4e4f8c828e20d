import { type Connection, sendRequest } from "./call-operation.ts";
import { createEventStreamParser } from "./parse-event-stream.ts";
import { backoff, pause } from "./pause.ts";
import { ApiError, ConnectionError, isPassing } from "./service-error.ts";
import type { DomainEvent, MessageDelta } from "./wire.ts";

/** One accepted message; what creation and follow-ups answer is one. */
export type RequestRef = { sessionId: string; requestId: string };

/** An event of a request: a stored one with its number, or a piece of a message while it is written. */
export type StreamEvent = DomainEvent | MessageDelta;

export type FollowOptions = {
  /** Only events with a higher number. */
  after?: number | undefined;
  /** Ends the following; the iterator then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Silence after which a connection counts as lost; the service speaks every 15 s. Default 45 s. */
  silenceMaxMs?: number | undefined;
};

/**
 * The events of a request, each stored one exactly once and in order, until the request's last. A connection that breaks
 * is opened again after the last event seen, with growing waits. Pieces of a message (`message.delta`) may come again
 * after that, from the message's beginning: go by their `attempt` and `offset`.
 *
 * @throws ApiError where another try would be refused in the same way.
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
    const gone = new AbortController();
    const leave = () => gone.abort(signal?.reason);
    if (signal?.aborted) throw signal.reason;
    signal?.addEventListener("abort", leave, { once: true });
    const before = seen;
    try {
      const headers = seen > 0 ? { "last-event-id": String(seen) } : {};
      const input = { sessionId, requestId };
      const response = await sendRequest(connection, "streamRequest", input, {
        headers,
        signal: gone.signal,
      });
      // Nothing is left to tell.
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
        // It was closed in order: the next answer says whether something is left.
        failures = 0;
        continue;
      }
      failures++;
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (!isPassing(error)) throw error;
      failures = seen > before ? 1 : failures + 1;
      await pause(backoff(failures, retryMs, readAskedMs(error)), signal);
      continue;
    } finally {
      signal?.removeEventListener("abort", leave);
      gone.abort();
    }
    await pause(backoff(failures, retryMs), signal);
  }
}

const readAskedMs = (error: unknown) => (error instanceof ApiError ? error.retryAfterMs : undefined);

/** A steer's stream may go on with the events of the turn that it joined: only its own request's end is the last. */
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
    const timer = setTimeout(() => reject(new ConnectionError("the stream fell silent")), silenceMaxMs);
    reading
      .then(resolve, (error: unknown) =>
        // Whatever broke the connection, the stream can be gone on with.
        reject(new ConnectionError("the stream broke off", { cause: error })),
      )
      .finally(() => clearTimeout(timer));
  });
}
