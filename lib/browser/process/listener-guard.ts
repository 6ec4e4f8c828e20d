/**
 * Wraps a listener of a browser's events: what the listener throws or rejects with goes to the guard's `onError`.
 * Without it, an error would be an uncaught exception and end the process, because the events arrive in tasks of their
 * own. Every listener for Playwright, DevTools or the browser's process is wrapped.
 */
export type ListenerGuard = <Args extends unknown[]>(
  listener: (...args: Args) => unknown,
) => (...args: Args) => void;

/** Creates the guard of one browser. `onError` must not throw; it ends the browser. */
export function createListenerGuard(onError: (error: unknown) => void): ListenerGuard {
  return (listener) =>
    (...args) => {
      try {
        const result = listener(...args);
        if (result instanceof Promise) result.catch(onError);
      } catch (error) {
        onError(error);
      }
    };
}
