import { AsyncLocalStorage } from "node:async_hooks";

/** A composed request that is not sent yet. */
type HeldRequest = { send: () => void; drop: () => void };

/** Lets a provider compose requests before they may be sent. */
export type RequestHold = {
  /** The `fetch` for the provider. A request that is made outside of `compose` is sent at once. */
  fetch: typeof globalThis.fetch;
  /** Calls `compose`, and holds every request that it makes, now or later, until `send` or `drop` is called. */
  hold: <Answer>(compose: () => Answer) => HeldRequest & { answer: Answer };
};

/**
 * Creates a {@link RequestHold}. A dropped request fails with an `AbortError` and is never sent.
 *
 * @param fetch sends the requests. Default: the global `fetch`.
 */
export function createRequestHold(
  fetch: typeof globalThis.fetch = (...args) => globalThis.fetch(...args),
): RequestHold {
  const gates = new AsyncLocalStorage<{ isOpen: boolean; opened: Promise<void> }>();
  return {
    fetch(...args) {
      const gate = gates.getStore();
      return !gate || gate.isOpen ? fetch(...args) : gate.opened.then(() => fetch(...args));
    },
    hold(compose) {
      const { promise: opened, resolve, reject } = Promise.withResolvers<void>();
      // A call that is dropped before it makes its request does not wait for the gate.
      opened.catch(() => {});
      const gate = { isOpen: false, opened };
      return {
        answer: gates.run(gate, compose),
        send() {
          gate.isOpen = true;
          resolve();
        },
        drop: () => reject(new DOMException("The request was not needed.", "AbortError")),
      };
    },
  };
}
