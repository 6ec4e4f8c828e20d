import { setTimeout as sleep } from "node:timers/promises";
import type { Topic } from "#lib/events/bus/topic.ts";

/**
 * Which person's connection has control of each session's browser. The newest take wins, in every process; while no person
 * has control, the agent has it as long as its turn runs. Nothing is stored: control ends with the connection.
 */
export type BrowserControl = {
  /** The id of the connection that has control; undefined while no person has. */
  holderOf: (sessionId: string) => string | undefined;
  /** Gives control to a connection of this process, also when another process has it. */
  take: (sessionId: string, connectionId: string) => void;
  /** Ends the control of this connection; does nothing if another one has it. */
  release: (sessionId: string, connectionId: string) => void;
  /** Calls back after each change of the holder. @returns stops the calls. */
  follow: (sessionId: string, listener: () => void) => () => void;
  /** Calls back whenever a person's control of any session's browser has ended. @returns stops the calls. */
  onFree: (listener: (sessionId: string) => void) => () => void;
  /**
   * Waits while a person has control.
   *
   * @returns whether control is free; false once `timeoutMs` have passed or the signal has fired.
   */
  untilFree: (sessionId: string, timeoutMs: number, signal: AbortSignal) => Promise<boolean>;
  /**
   * Asks the other processes whether one of their connections has control, and gives them time to say so: this process may
   * not have heard of it.
   *
   * @returns whether control is free.
   */
  isConfirmedFree: (sessionId: string) => Promise<boolean>;
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

type Control = {
  topic: Topic;
  /** The name of this process. */
  self: string;
  confirmMs: number;
  claims: Map<string, KnownClaim>;
  listeners: Map<string, Set<() => void>>;
  freeListeners: Set<(sessionId: string) => void>;
  /** Sessions whose holder in another process was asked to confirm, each with the timer that ends the wait. */
  unconfirmed: Map<string, NodeJS.Timeout>;
};

/**
 * @param options.confirmMs how long another process may take to repeat a claim; after that it counts as gone, and its
 * connections with it.
 */
export function createBrowserControl(
  topic: Topic,
  { self = crypto.randomUUID(), confirmMs = 2_000 } = {},
): BrowserControl {
  const control: Control = {
    topic,
    self,
    confirmMs,
    claims: new Map(),
    listeners: new Map(),
    freeListeners: new Set(),
    unconfirmed: new Map(),
  };
  const { claims } = control;
  const holderOf = (sessionId: string) => holderIn(claims.get(sessionId));
  // Only this module writes to the topic.
  const stopListening = topic.subscribe(
    (word) => receive(control, JSON.parse(word) as Word),
    () => catchUp(control),
  );
  catchUp(control);

  return {
    holderOf,
    follow: (sessionId, listener) => follow(control, sessionId, listener),
    take(sessionId, connectionId) {
      if (holderOf(sessionId) === connectionId) return;
      const stamp = Math.max(Date.now(), (claims.get(sessionId)?.stamp ?? 0) + 1);
      publishOwn(control, sessionId, { stamp, connectionId, isReleased: false });
    },
    release(sessionId, connectionId) {
      const known = claims.get(sessionId);
      if (known && holderIn(known) === connectionId)
        publishOwn(control, sessionId, { ...known, isReleased: true });
    },
    onFree(listener) {
      control.freeListeners.add(listener);
      return () => control.freeListeners.delete(listener);
    },
    untilFree: (sessionId, timeoutMs, signal) => untilFree(control, sessionId, timeoutMs, signal),
    async isConfirmedFree(sessionId) {
      if (holderOf(sessionId) === undefined) send(control, { type: "ask", from: self, sessionId });
      else confirm(control, sessionId);
      // Longer than the time after which a holder that does not answer counts as gone.
      await sleep(confirmMs * 1.5, undefined, { ref: false });
      return holderOf(sessionId) === undefined;
    },
    close() {
      stopListening();
      for (const timer of control.unconfirmed.values()) clearTimeout(timer);
    },
  };
}

const send = ({ topic }: Control, word: Word) => topic.publish(JSON.stringify(word));

/** Applies a claim if it is newer than the known one. */
function apply(
  { claims, listeners, freeListeners }: Control,
  sessionId: string,
  claim: Claim,
  isOurs: boolean,
): void {
  const known = claims.get(sessionId);
  if (known && !isNewer(claim, known)) return;
  const nowMs = Date.now();
  claims.set(sessionId, { ...claim, isOurs, sinceMs: nowMs });
  for (const [id, { isReleased, sinceMs }] of claims)
    if (isReleased && nowMs - sinceMs > FORGET_MS) claims.delete(id);
  if (holderIn(known) === holderIn(claim)) return;
  for (const listener of [...(listeners.get(sessionId) ?? [])]) listener();
  if (claim.isReleased) for (const listener of freeListeners) listener(sessionId);
}

/** Applies a claim of this process and sends it to the other processes. */
function publishOwn(control: Control, sessionId: string, claim: Claim): void {
  apply(control, sessionId, claim, true);
  const { stamp, connectionId, isReleased } = claim;
  send(control, { type: "claim", from: control.self, sessionId, stamp, connectionId, isReleased });
}

/** Checks that the process of a holder still runs: a process that has ended releases nothing itself. */
function confirm(control: Control, sessionId: string): void {
  const { claims, unconfirmed, self, confirmMs } = control;
  const known = claims.get(sessionId);
  if (!known || known.isReleased || known.isOurs || unconfirmed.has(sessionId)) return;
  const timer = setTimeout(() => {
    unconfirmed.delete(sessionId);
    if (claims.get(sessionId) === known) publishOwn(control, sessionId, { ...known, isReleased: true });
  }, confirmMs);
  timer.unref();
  unconfirmed.set(sessionId, timer);
  send(control, { type: "ask", from: self, sessionId });
}

function receive(control: Control, word: Word): void {
  const { self, claims, unconfirmed } = control;
  if (word.from === self) return;
  if (word.type === "claim") {
    const { sessionId, stamp, connectionId, isReleased } = word;
    clearTimeout(unconfirmed.get(sessionId));
    unconfirmed.delete(sessionId);
    apply(control, sessionId, { stamp, connectionId, isReleased }, false);
    return;
  }
  for (const [id, { stamp, connectionId, isReleased, isOurs }] of claims)
    if (isOurs && !isReleased && (word.sessionId === null || word.sessionId === id))
      send(control, { type: "claim", from: self, sessionId: id, stamp, connectionId, isReleased });
}

/** Asks the other processes to repeat who has control: this process may have missed messages. */
function catchUp(control: Control): void {
  for (const sessionId of control.claims.keys()) confirm(control, sessionId);
  send(control, { type: "ask", from: control.self, sessionId: null });
}

function follow(control: Control, sessionId: string, listener: () => void): () => void {
  const { listeners } = control;
  // A wrapper, so that one listener may follow twice.
  const entry = () => listener();
  const entries = listeners.get(sessionId) ?? new Set();
  listeners.set(sessionId, entries.add(entry));
  confirm(control, sessionId);
  return () => {
    entries.delete(entry);
    if (entries.size === 0 && listeners.get(sessionId) === entries) listeners.delete(sessionId);
  };
}

async function untilFree(
  control: Control,
  sessionId: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const isFree = () => holderIn(control.claims.get(sessionId)) === undefined;
  if (isFree()) return true;
  if (signal.aborted) return false;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const stopFollowing = follow(control, sessionId, () => isFree() && resolve(true));
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
}
