import type { Words } from "#lib/events/words.ts";

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

/** The newest known change of a session's control. `isOurs`: the connection is one of this process. */
type Claim = { stamp: number; holder: string | null; isOurs: boolean };

type Word =
  | { type: "claim"; from: string; sessionId: string; stamp: number; holder: string | null }
  /** Asks every process to repeat the claims of its own connections, of one session or of all. */
  | { type: "ask"; from: string; sessionId: string | null };

/** A claim without a holder is kept this long, so that an older claim that arrives late does not win over it. */
const FORGET_MS = 60_000;

/**
 * @param options.confirmMs how long another process may take to repeat a claim; after that it counts as gone, and its
 * connections with it.
 */
export function createBrowserControl(
  words: Words,
  { self = crypto.randomUUID(), confirmMs = 2_000 } = {},
): BrowserControl {
  const claims = new Map<string, Claim>();
  const listeners = new Map<string, Set<() => void>>();
  /** Sessions whose holder in another process was asked for, each with the timer that ends the wait. */
  const unconfirmed = new Map<string, NodeJS.Timeout>();
  const tell = (word: Word) => words.tell(JSON.stringify(word));
  const holderOf = (sessionId: string) => claims.get(sessionId)?.holder ?? undefined;

  /** Applies a claim if it is newer than the known one; equal stamps are ordered by the holder, alike in every process. */
  function apply(sessionId: string, claim: Claim): boolean {
    const known = claims.get(sessionId);
    const isOlder = known && claim.stamp < known.stamp;
    const isSame = known?.stamp === claim.stamp && (claim.holder ?? "") <= (known.holder ?? "");
    if (isOlder || isSame) return false;
    claims.set(sessionId, claim);
    for (const [id, { holder, stamp }] of claims)
      if (holder === null && claim.stamp - stamp > FORGET_MS) claims.delete(id);
    if (known?.holder !== claim.holder)
      for (const listener of [...(listeners.get(sessionId) ?? [])]) listener();
    return true;
  }
  /** Makes a new claim, newer than every known one, and tells the other processes. */
  function claim(sessionId: string, holder: string | null): void {
    const stamp = Math.max(Date.now(), (claims.get(sessionId)?.stamp ?? 0) + 1);
    apply(sessionId, { stamp, holder, isOurs: true });
    tell({ type: "claim", from: self, sessionId, stamp, holder });
  }

  /** Checks that the process of a holder is still there; a process that has gone releases nothing by itself. */
  function confirm(sessionId: string): void {
    const known = claims.get(sessionId);
    if (!known || known.holder === null || known.isOurs || unconfirmed.has(sessionId)) return;
    const timer = setTimeout(() => {
      unconfirmed.delete(sessionId);
      if (claims.get(sessionId) === known) claim(sessionId, null);
    }, confirmMs);
    timer.unref();
    unconfirmed.set(sessionId, timer);
    tell({ type: "ask", from: self, sessionId });
  }

  function receive(word: Word): void {
    if (word.from === self) return;
    const { sessionId } = word;
    if (word.type === "claim") {
      const { stamp, holder } = word;
      clearTimeout(unconfirmed.get(word.sessionId));
      unconfirmed.delete(word.sessionId);
      apply(word.sessionId, { stamp, holder, isOurs: false });
      return;
    }
    for (const [id, { stamp, holder, isOurs }] of claims)
      if (isOurs && holder !== null && (sessionId === null || sessionId === id))
        tell({ type: "claim", from: self, sessionId: id, stamp, holder });
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
      if (holderOf(sessionId) !== connectionId) claim(sessionId, connectionId);
    },
    release(sessionId, connectionId) {
      if (holderOf(sessionId) === connectionId) claim(sessionId, null);
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
