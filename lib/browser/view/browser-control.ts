import type { Words } from "#lib/events/bus/words.ts";

/**
 * Which person's connection has control of each session's browser. The newest take wins, in every process; while nobody
 * has taken control, the agent has it for as long as its turn runs. Rows are not involved: control ends with the connection.
 */
export type BrowserControl = {
  /** The id of the connection that has control; undefined while no person has. */
  holderOf: (sessionId: string) => string | undefined;
  /** Gives control to a connection of this process, also from another one. */
  take: (sessionId: string, connectionId: string) => void;
  /** Ends the control of this connection; does nothing if another one has it. */
  release: (sessionId: string, connectionId: string) => void;
  /** Calls back after each change of the holder. @returns the way to stop. */
  follow: (sessionId: string, listener: () => void) => () => void;
  /**
   * Waits while a person has control.
   *
   * @returns whether control is free; false once `timeoutMs` have passed or the signal has fired.
   */
  untilFree: (sessionId: string, timeoutMs: number, signal: AbortSignal) => Promise<boolean>;
  close: () => void;
};

/**
 * The newest known claim of a session's control. Processes see takes and releases in different orders, so claims have one
 * order that is the same everywhere: by stamp, then by connection, and a claim's release after the claim itself. A release
 * therefore never wins over another connection's newer take.
 */
type Claim = { stamp: number; connectionId: string; isReleased: boolean };

/** `isOurs`: the connection is one of this process. `sinceMs`: when this process learned of the claim. */
type KnownClaim = Claim & { isOurs: boolean; sinceMs: number };

type Word =
  | ({ type: "claim"; from: string; sessionId: string } & Claim)
  /** Asks every process to repeat the claims of its own connections, of one session or of all. */
  | { type: "ask"; from: string; sessionId: string | null };

/** A released claim is kept this long, so that the claim itself does not win over it when it arrives late. */
const FORGET_MS = 60_000;

const isNewer = (claim: Claim, known: Claim): boolean => {
  if (claim.stamp !== known.stamp) return claim.stamp > known.stamp;
  if (claim.connectionId !== known.connectionId) return claim.connectionId > known.connectionId;
  return claim.isReleased && !known.isReleased;
};

const holderIn = (claim: Claim | undefined): string | undefined =>
  claim === undefined || claim.isReleased ? undefined : claim.connectionId;

/**
 * @param options.confirmMs how long another process may take to repeat a claim; after that it counts as gone, and its
 * connections with it.
 */
export function createBrowserControl(
  words: Words,
  { self = crypto.randomUUID(), confirmMs = 2_000 } = {},
): BrowserControl {
  const claims = new Map<string, KnownClaim>();
  const listeners = new Map<string, Set<() => void>>();
  /** Sessions whose holder in another process was asked for, each with the timer that ends the wait. */
  const unconfirmed = new Map<string, NodeJS.Timeout>();
  const tell = (word: Word) => words.tell(JSON.stringify(word));
  const holderOf = (sessionId: string) => holderIn(claims.get(sessionId));

  /** Applies a claim if it is newer than the known one. */
  function apply(sessionId: string, claim: Claim, isOurs: boolean): void {
    const known = claims.get(sessionId);
    if (known && !isNewer(claim, known)) return;
    const nowMs = Date.now();
    claims.set(sessionId, { ...claim, isOurs, sinceMs: nowMs });
    for (const [id, { isReleased, sinceMs }] of claims)
      if (isReleased && nowMs - sinceMs > FORGET_MS) claims.delete(id);
    if (holderIn(known) !== holderIn(claim))
      for (const listener of [...(listeners.get(sessionId) ?? [])]) listener();
  }
  /** Applies a claim of this process and tells the other processes. */
  function claim(sessionId: string, made: Claim): void {
    apply(sessionId, made, true);
    const { stamp, connectionId, isReleased } = made;
    tell({ type: "claim", from: self, sessionId, stamp, connectionId, isReleased });
  }

  /** Checks that the process of a holder is still there; a process that has gone releases nothing by itself. */
  function confirm(sessionId: string): void {
    const known = claims.get(sessionId);
    if (!known || known.isReleased || known.isOurs || unconfirmed.has(sessionId)) return;
    const timer = setTimeout(() => {
      unconfirmed.delete(sessionId);
      if (claims.get(sessionId) === known) claim(sessionId, { ...known, isReleased: true });
    }, confirmMs);
    timer.unref();
    unconfirmed.set(sessionId, timer);
    tell({ type: "ask", from: self, sessionId });
  }

  function receive(word: Word): void {
    if (word.from === self) return;
    const { sessionId } = word;
    if (word.type === "claim") {
      const { stamp, connectionId, isReleased } = word;
      clearTimeout(unconfirmed.get(word.sessionId));
      unconfirmed.delete(word.sessionId);
      apply(word.sessionId, { stamp, connectionId, isReleased }, false);
      return;
    }
    for (const [id, { stamp, connectionId, isReleased, isOurs }] of claims)
      if (isOurs && !isReleased && (sessionId === null || sessionId === id))
        tell({ type: "claim", from: self, sessionId: id, stamp, connectionId, isReleased });
  }
  function catchUp(): void {
    for (const sessionId of claims.keys()) confirm(sessionId);
    tell({ type: "ask", from: self, sessionId: null });
  }

  // Only this module writes to the topic.
  const stopListening = words.listen((word) => receive(JSON.parse(word) as Word), catchUp);
  catchUp();

  function follow(sessionId: string, listener: () => void): () => void {
    const entry = () => listener();
    const same = listeners.get(sessionId) ?? new Set();
    listeners.set(sessionId, same.add(entry));
    confirm(sessionId);
    return () => {
      same.delete(entry);
      if (same.size === 0 && listeners.get(sessionId) === same) listeners.delete(sessionId);
    };
  }

  return {
    holderOf,
    follow,
    take(sessionId, connectionId) {
      if (holderOf(sessionId) === connectionId) return;
      const stamp = Math.max(Date.now(), (claims.get(sessionId)?.stamp ?? 0) + 1);
      claim(sessionId, { stamp, connectionId, isReleased: false });
    },
    release(sessionId, connectionId) {
      const known = claims.get(sessionId);
      if (known && holderIn(known) === connectionId) claim(sessionId, { ...known, isReleased: true });
    },
    async untilFree(sessionId, timeoutMs, signal) {
      if (holderOf(sessionId) === undefined) return true;
      if (signal.aborted) return false;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const stopFollowing = follow(sessionId, () => holderOf(sessionId) === undefined && resolve(true));
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
    close() {
      stopListening();
      for (const timer of unconfirmed.values()) clearTimeout(timer);
    },
  };
}
