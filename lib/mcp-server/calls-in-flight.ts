import type { Topic } from "#lib/events/bus/topic.ts";

/** What is being answered, so that a later message of the same holder can cancel it, whichever process it reaches. */
export type CallsInFlight = {
  /** Notes that an answer is in the making; its signal fires when it is cancelled. */
  begin: (holderKey: string, requestId: unknown) => { signal: AbortSignal; end: () => void };
  /** Cancels a holder's request by the id that its own client gave it. */
  cancel: (holderKey: string, requestId: unknown) => void;
  close: () => void;
};

/** Longer than the ids of real clients. Ids are published on the bus, which takes only short texts. */
const ID_MAX = 200;

/** @see CallsInFlight */
export function createCallsInFlight(topic: Topic): CallsInFlight {
  const calls = new Map<string, Set<AbortController>>();
  const stopListening = topic.subscribe(
    (word) => {
      for (const call of calls.get(word) ?? []) call.abort();
    },
    // A missed cancellation cannot be recovered: the call then ends by its own timeout.
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

/** A number and its text are different ids. */
function nameCall(holderKey: string, requestId: unknown): string | undefined {
  if (typeof requestId !== "string" && typeof requestId !== "number") return undefined;
  const id = JSON.stringify(requestId);
  return id.length > ID_MAX ? undefined : `${holderKey} ${id}`;
}
