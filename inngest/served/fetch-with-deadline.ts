/**
 * Creates a `fetch` whose requests fail after `timeoutMs`, so that a server that accepts connections but does not answer
 * cannot hold a request of the SDK forever.
 */
export const fetchWithDeadline =
  (timeoutMs: number): typeof fetch =>
  (input, init) => {
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = init?.signal ? AbortSignal.any([init.signal, deadline]) : deadline;
    return fetch(input, { ...init, signal });
  };
