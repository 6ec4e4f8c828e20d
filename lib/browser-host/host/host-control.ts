import type { SessionClaim } from "#lib/browser/view/browser-control.ts";
import type { HostServices } from "#lib/tools/browser/host-services.ts";

/** Who has control of browsers, as the processes of the service have told this host. */
export type HostControl = HostServices["control"] & { apply: (claims: readonly SessionClaim[]) => void };

/** Creates the control of a host. Several processes may tell the same claim; an older one has no effect. */
export function createHostControl(): HostControl {
  const claims = new Map<string, SessionClaim>();
  const listeners = new Map<string, Set<() => void>>();
  const holderOf = (sessionId: string) => claims.get(sessionId)?.holder ?? undefined;

  function follow(sessionId: string, listener: () => void): () => void {
    // A new function for each call, so that the same listener can be added twice.
    const entry = () => listener();
    const entries = listeners.get(sessionId) ?? new Set();
    listeners.set(sessionId, entries.add(entry));
    return () => {
      entries.delete(entry);
      if (entries.size === 0 && listeners.get(sessionId) === entries) listeners.delete(sessionId);
    };
  }

  return {
    holderOf,
    follow,
    async untilFree(sessionId, timeoutMs, signal) {
      const isFree = () => holderOf(sessionId) === undefined;
      if (isFree()) return true;
      if (signal.aborted) return false;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const stopFollowing = follow(sessionId, () => isFree() && resolve(true));
      const timer = setTimeout(() => resolve(false), timeoutMs);
      const onAbort = () => resolve(false);
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        return await promise;
      } finally {
        stopFollowing();
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
      }
    },
    apply(newer) {
      for (const claim of newer) {
        const known = claims.get(claim.sessionId);
        if (known && known.stamp >= claim.stamp && known.holder !== null) {
          // A release has the stamp of its claim.
          if (known.stamp > claim.stamp || claim.holder !== null) continue;
        } else if (known && known.stamp >= claim.stamp) continue;
        const before = holderOf(claim.sessionId);
        claims.set(claim.sessionId, claim);
        if (holderOf(claim.sessionId) === before) continue;
        for (const listener of [...(listeners.get(claim.sessionId) ?? [])]) listener();
      }
    },
  };
}
