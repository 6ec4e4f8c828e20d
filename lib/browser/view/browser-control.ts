import { setTimeout as sleep } from "node:timers/promises";
import type { Topic } from "#lib/events/bus/topic.ts";
import { untilFree } from "./until-free.ts";

/**
 * Tracks across all processes which person's connection has control of each session's browser. The latest `take` wins.
 * While no person has control, the agent has control during its turns. Control is not stored in the database, and it
 * ends with the connection.
 */
export type BrowserControl = {
  /** Returns the id of the connection that has control; undefined while no person has control. */
  holderOf: (sessionId: string) => string | undefined;
  /** Gives control to a connection of this process, even if another connection of any process has control. */
  take: (sessionId: string, connectionId: string) => void;
  /** Ends the control of this connection. Has no effect if another connection has control. */
  release: (sessionId: string, connectionId: string) => void;
  /** Calls `listener` each time that control of the session changes. @returns a function that stops the calls. */
  follow: (sessionId: string, listener: () => void) => () => void;
  /** Lists the newest claim to each session that this process knows. */
  listClaims: () => SessionClaim[];
  /** Calls `listener` with each newer claim, and each release. @returns a function that stops the calls. */
  onClaim: (listener: (claim: SessionClaim) => void) => () => void;
  /** Calls `listener` when a person's control of any session has ended. @returns a function that stops the calls. */
  onFree: (listener: (sessionId: string) => void) => () => void;
  /**
   * Waits until no person has control.
   *
   * @returns whether control is free. False if `timeoutMs` have passed or the signal has fired before that.
   */
  untilFree: (sessionId: string, timeoutMs: number, signal: AbortSignal) => Promise<boolean>;
  /**
   * Asks the other processes whether one of their connections has control, and waits for their answers. Needed because
   * this process may have missed a message.
   *
   * @returns whether control is free.
   */
  isConfirmedFree: (sessionId: string) => Promise<boolean>;
  close: () => void;
};

/** The newest claim to a session: who has control, and a stamp that is higher than that of older claims. */
export type SessionClaim = { sessionId: string; holder: string | null; stamp: number };

/**
 * A connection's claim to the control of a session, or the release of that claim. Processes may receive claims and
 * releases in different orders, so all processes sort them by the same rule: by `stamp`, then by connection id. A
 * release has the stamp and the connection id of its claim, so a late release never ends a newer claim.
 */
type Claim = { stamp: number; connectionId: string; isReleased: boolean };

/**
 * The newest claim to a session that this process knows. `isOurs` is true if this process made or released the claim,
 * and false if another process sent it. `sinceMs` is the time at which this process made or received it.
 */
type KnownClaim = Claim & { isOurs: boolean; sinceMs: number };

type ControlMessage =
  | ({ type: "claim"; from: string; sessionId: string } & Claim)
  /** Asks every process to repeat the claims of its own connections. If `sessionId` is null, asks for all sessions. */
  | { type: "ask"; from: string; sessionId: string | null };

/** How long a released claim is stored. During this time, a late message cannot restore the claim. */
const FORGET_MS = 60_000;

const isNewer = (claim: Claim, current: Claim): boolean => {
  if (claim.stamp !== current.stamp) return claim.stamp > current.stamp;
  if (claim.connectionId !== current.connectionId) return claim.connectionId > current.connectionId;
  return claim.isReleased && !current.isReleased;
};

const holderIn = (claim: Claim | undefined): string | undefined =>
  claim === undefined || claim.isReleased ? undefined : claim.connectionId;

const toSessionClaim = (sessionId: string, claim: Claim): SessionClaim => ({
  sessionId,
  holder: holderIn(claim) ?? null,
  stamp: claim.stamp,
});

type Control = {
  topic: Topic;
  /** The name of this process. */
  self: string;
  confirmMs: number;
  claims: Map<string, KnownClaim>;
  listeners: Map<string, Set<() => void>>;
  freeListeners: Set<(sessionId: string) => void>;
  claimListeners: Set<(claim: SessionClaim) => void>;
  /** Timers by session id. Each timer ends the wait for another process to repeat its claim to the session. */
  unconfirmed: Map<string, NodeJS.Timeout>;
};

/**
 * Creates the {@link BrowserControl} of this process.
 * @param options.confirmMs how long another process may take to repeat a claim. After that, the claim is released.
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
    claimListeners: new Set(),
    unconfirmed: new Map(),
  };
  const { claims } = control;
  const holderOf = (sessionId: string) => holderIn(claims.get(sessionId));
  // The cast is safe, because only this module writes to the topic.
  const stopListening = topic.subscribe(
    (message) => receive(control, JSON.parse(message) as ControlMessage),
    () => catchUp(control),
  );
  catchUp(control);

  const shown: Pick<BrowserControl, "holderOf" | "follow"> = {
    holderOf,
    follow: (sessionId, listener) => follow(control, sessionId, listener),
  };
  return {
    ...shown,
    take(sessionId, connectionId) {
      if (holderOf(sessionId) === connectionId) return;
      const stamp = Math.max(Date.now(), (claims.get(sessionId)?.stamp ?? 0) + 1);
      publishOwn(control, sessionId, { stamp, connectionId, isReleased: false });
    },
    release(sessionId, connectionId) {
      const current = claims.get(sessionId);
      if (current && holderIn(current) === connectionId)
        publishOwn(control, sessionId, { ...current, isReleased: true });
    },
    listClaims: () => [...claims].map(([sessionId, claim]) => toSessionClaim(sessionId, claim)),
    onClaim(listener) {
      control.claimListeners.add(listener);
      return () => control.claimListeners.delete(listener);
    },
    onFree(listener) {
      control.freeListeners.add(listener);
      return () => control.freeListeners.delete(listener);
    },
    untilFree: (...wait) => untilFree(shown, ...wait),
    async isConfirmedFree(sessionId) {
      if (holderOf(sessionId) === undefined) send(control, { type: "ask", from: self, sessionId });
      else confirm(control, sessionId);
      // Waits longer than `confirmMs`: the claim of a process that does not answer is released only after that time.
      await sleep(confirmMs * 1.5, undefined, { ref: false });
      return holderOf(sessionId) === undefined;
    },
    close() {
      stopListening();
      for (const timer of control.unconfirmed.values()) clearTimeout(timer);
    },
  };
}

const send = ({ topic }: Control, message: ControlMessage) => topic.publish(JSON.stringify(message));

/** Applies a claim if it is newer than the current one. */
function apply(
  { claims, listeners, freeListeners, claimListeners }: Control,
  sessionId: string,
  claim: Claim,
  isOurs: boolean,
): void {
  const current = claims.get(sessionId);
  if (current && !isNewer(claim, current)) return;
  const nowMs = Date.now();
  claims.set(sessionId, { ...claim, isOurs, sinceMs: nowMs });
  for (const [id, { isReleased, sinceMs }] of claims)
    if (isReleased && nowMs - sinceMs > FORGET_MS) claims.delete(id);
  for (const listener of [...claimListeners]) listener(toSessionClaim(sessionId, claim));
  if (holderIn(current) === holderIn(claim)) return;
  for (const listener of [...(listeners.get(sessionId) ?? [])]) listener();
  if (claim.isReleased) for (const listener of freeListeners) listener(sessionId);
}

/** Applies a claim that this process has made or released, and sends it to the other processes. */
function publishOwn(control: Control, sessionId: string, claim: Claim): void {
  apply(control, sessionId, claim, true);
  const { stamp, connectionId, isReleased } = claim;
  send(control, { type: "claim", from: control.self, sessionId, stamp, connectionId, isReleased });
}

/**
 * If a connection of another process has control, asks that process to repeat the claim, because the process may have
 * ended. If there is no answer, releases the claim.
 */
function confirm(control: Control, sessionId: string): void {
  const { claims, unconfirmed, self, confirmMs } = control;
  const current = claims.get(sessionId);
  if (!current || current.isReleased || current.isOurs || unconfirmed.has(sessionId)) return;
  const timer = setTimeout(() => {
    unconfirmed.delete(sessionId);
    if (claims.get(sessionId) === current) publishOwn(control, sessionId, { ...current, isReleased: true });
  }, confirmMs);
  timer.unref();
  unconfirmed.set(sessionId, timer);
  send(control, { type: "ask", from: self, sessionId });
}

function receive(control: Control, message: ControlMessage): void {
  const { self, claims, unconfirmed } = control;
  if (message.from === self) return;
  if (message.type === "claim") {
    const { sessionId, stamp, connectionId, isReleased } = message;
    clearTimeout(unconfirmed.get(sessionId));
    unconfirmed.delete(sessionId);
    apply(control, sessionId, { stamp, connectionId, isReleased }, false);
    return;
  }
  for (const [id, { stamp, connectionId, isReleased, isOurs }] of claims)
    if (isOurs && !isReleased && (message.sessionId === null || message.sessionId === id))
      send(control, { type: "claim", from: self, sessionId: id, stamp, connectionId, isReleased });
}

/** Asks the other processes to repeat their claims, because this process may have missed messages. */
function catchUp(control: Control): void {
  for (const sessionId of control.claims.keys()) confirm(control, sessionId);
  send(control, { type: "ask", from: control.self, sessionId: null });
}

function follow(control: Control, sessionId: string, listener: () => void): () => void {
  const { listeners } = control;
  // A new function for each call, so that the same listener can be added twice.
  const entry = () => listener();
  const entries = listeners.get(sessionId) ?? new Set();
  listeners.set(sessionId, entries.add(entry));
  confirm(control, sessionId);
  return () => {
    entries.delete(entry);
    if (entries.size === 0 && listeners.get(sessionId) === entries) listeners.delete(sessionId);
  };
}
