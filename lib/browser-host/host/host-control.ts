import type { SessionClaim } from "#lib/browser/view/browser-control.ts";
import { untilFree } from "#lib/browser/view/until-free.ts";
import type { HostServices } from "#lib/tools/browser/host-services.ts";

/** Who has control of browsers, as the processes of the service have told this host. */
export type HostControl = HostServices["control"] & {
  /** Applies what a process tells. Several processes may tell the same claim; an older one has no effect. */
  apply: (claims: readonly SessionClaim[], teller: object) => void;
  /** Ends the claims that only this process has told: the process is gone, and may have been the one that held them. */
  forget: (teller: object) => void;
};

type KnownClaim = SessionClaim & { tellers: Set<object> };
type Control = { claims: Map<string, KnownClaim>; listeners: Map<string, Set<() => void>> };

/** How many ended claims are kept. While one is kept, a late message cannot restore it. */
const ENDED_MAX = 1_000;

/** Creates the control of a host. */
export function createHostControl(): HostControl {
  const control: Control = { claims: new Map(), listeners: new Map() };
  const { claims } = control;
  const shown: Pick<HostControl, "holderOf" | "follow"> = {
    holderOf: (sessionId) => holderOf(control, sessionId),
    follow: (sessionId, listener) => follow(control, sessionId, listener),
  };
  return {
    ...shown,
    untilFree: (...wait) => untilFree(shown, ...wait),
    apply(told, teller) {
      for (const claim of told) {
        const known = claims.get(claim.sessionId);
        if (known && isSame(known, claim)) known.tellers.add(teller);
        else if (!known || isNewer(claim, known)) set(control, { ...claim, tellers: new Set([teller]) });
      }
    },
    forget(teller) {
      for (const claim of claims.values()) {
        if (!claim.tellers.delete(teller) || claim.holder === null || claim.tellers.size > 0) continue;
        set(control, { ...claim, holder: null });
      }
    },
  };
}

const isSame = (one: SessionClaim, other: SessionClaim) =>
  one.stamp === other.stamp && one.holder === other.holder;

/** A release has the stamp of its claim. */
const isNewer = (claim: SessionClaim, known: SessionClaim) =>
  claim.stamp > known.stamp ||
  (claim.stamp === known.stamp && claim.holder === null && known.holder !== null);

const holderOf = ({ claims }: Control, sessionId: string) => claims.get(sessionId)?.holder ?? undefined;

function set(control: Control, claim: KnownClaim): void {
  const { claims, listeners } = control;
  const { sessionId } = claim;
  const before = holderOf(control, sessionId);
  claims.delete(sessionId);
  claims.set(sessionId, claim);
  forgetEnded(claims);
  if (holderOf(control, sessionId) === before) return;
  for (const listener of [...(listeners.get(sessionId) ?? [])]) listener();
}

/** Forgets the oldest ended claims. */
function forgetEnded(claims: Control["claims"]): void {
  if (claims.size <= ENDED_MAX) return;
  const ended = [...claims.values()].filter(({ holder }) => holder === null);
  for (const { sessionId } of ended.slice(0, -ENDED_MAX)) claims.delete(sessionId);
}

function follow({ listeners }: Control, sessionId: string, listener: () => void): () => void {
  // A new function for each call, so that the same listener can be added twice.
  const entry = () => listener();
  const entries = listeners.get(sessionId) ?? new Set();
  listeners.set(sessionId, entries.add(entry));
  return () => {
    entries.delete(entry);
    if (entries.size === 0 && listeners.get(sessionId) === entries) listeners.delete(sessionId);
  };
}
