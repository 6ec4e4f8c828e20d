import type { Topic } from "#lib/events/bus/topic.ts";

/** The calls in progress, so that a later message of the same holder can cancel one, even through another process. */
export type CallsInFlight = {
  /** Registers a call. Its signal fires when the call is cancelled; `end` must be called when the call is over. */
  begin: (holderKey: string, requestId: unknown) => { signal: AbortSignal; end: () => void };
  /** Cancels a holder's request by the JSON-RPC id that the client chose. */
  cancel: (holderKey: string, requestId: unknown) => void;
  close: () => void;
};

/** Calls with longer ids cannot be cancelled, because the bus between processes only carries short messages. */
const ID_MAX = 200;

/** @see CallsInFlight */
export function createCallsInFlight(topic: Topic): CallsInFlight {
  const calls = new Map<string, Set<AbortController>>();
  const stopListening = topic.subscribe(
    (word) => {
      for (const call of calls.get(word) ?? []) call.abort();
    },
    // A cancellation that was lost on the bus cannot be recovered; the call then ends by its own timeout.
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

/** Names a call across processes. The ids 7 and "7" are different; undefined for an id that cannot be cancelled. */
function nameCall(holderKey: string, requestId: unknown): string | undefined {
  if (typeof requestId !== "string" && typeof requestId !== "number") return undefined;
  const id = JSON.stringify(requestId);
  return id.length > ID_MAX ? undefined : `${holderKey} ${id}`;
}
