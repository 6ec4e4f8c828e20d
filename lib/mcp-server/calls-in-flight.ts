import type { Topic } from "#lib/events/bus/topic.ts";

/** The calls in progress. The token holder can cancel a call with a later message, which any process may receive. */
export type CallsInFlight = {
  /** Registers a call. Its signal fires when the call is cancelled; `end` must be called when the call is over. */
  begin: (holderKey: string, requestId: unknown) => { signal: AbortSignal; end: () => void };
  /** Cancels a request of a token holder. `requestId` is the JSON-RPC id that the client chose for the request. */
  cancel: (holderKey: string, requestId: unknown) => void;
  close: () => void;
};

/**
 * Maximum length of an id. Calls with longer ids cannot be cancelled, because messages between processes must be short.
 */
const ID_MAX = 200;

/** @see CallsInFlight */
export function createCallsInFlight(topic: Topic): CallsInFlight {
  const calls = new Map<string, Set<AbortController>>();
  const stopListening = topic.subscribe(
    (word) => {
      for (const call of calls.get(word) ?? []) call.abort();
    },
    // Called when bus messages may have been lost. Does nothing: a call whose cancellation was lost ends at its
    // deadline.
    () => {},
  );

  return {
    begin(holderKey, requestId) {
      const call = new AbortController();
      const name = nameCall(holderKey, requestId);
      if (name === undefined) return { signal: call.signal, end: () => {} };
      calls.set(name, (calls.get(name) ?? new Set()).add(call));
      const end = () => {
        const same = calls.get(name);
        same?.delete(call);
        if (same?.size === 0) calls.delete(name);
      };
      return { signal: call.signal, end };
    },
    cancel(holderKey, requestId) {
      const name = nameCall(holderKey, requestId);
      if (name !== undefined) topic.publish(name);
    },
    close: stopListening,
  };
}

/** Returns a name for a call that is the same in all processes, or undefined if the call cannot be cancelled. */
function nameCall(holderKey: string, requestId: unknown): string | undefined {
  if (typeof requestId !== "string" && typeof requestId !== "number") return undefined;
  const id = JSON.stringify(requestId);
  return id.length > ID_MAX ? undefined : `${holderKey} ${id}`;
}
