import { withoutQuery } from "#lib/text/without-query.ts";
import type { BrowserInput } from "../browser-service.ts";
import type { createAgentScripts } from "./agent-scripts.ts";
import type { ControlActivity } from "./control-activity.ts";
import type {
  ControlEnd,
  ControlExpiry,
  ControlRecord,
  ControlState,
  ControlTimes,
} from "./control-state.ts";
import type { HeldInput } from "./held-input.ts";

/** What the control of a host works with. */
export type ControlLeasesDeps = {
  hostId: string;
  /** Sends input to the page. */
  input: (sessionId: string, input: BrowserInput) => Promise<void>;
  /** Returns the name of the field that has the focus in the page; null if none has. */
  readField: (sessionId: string) => Promise<string | null>;
  /** Returns the address of the page; null if no browser runs. */
  addressOf: (sessionId: string) => string | null;
  /** Called after each change. */
  onChange: (state: ControlState) => void;
  onTaken: (sessionId: string, taken: { name: string; from: string | null }) => void;
  /** Called with what a person did when their control has ended. */
  onEnded: (sessionId: string, record: Promise<ControlRecord>) => void;
  /** See {@link CONTROL_TIMES}. */
  times?: Partial<ControlTimes>;
  /** A monotonic clock, in milliseconds. */
  nowMs?: () => number;
  /** Notes whether the browser of a session is handed over to people. Called before a person gets control. */
  readHandover?: (sessionId: string) => Promise<void>;
};

/** The control that a person has. */
export type Lease = {
  connectionId: string;
  name: string;
  /** SHA-256 of the secret with which the person's next connection resumes control. */
  secretHash: Buffer;
  via: object;
  usedAtMs: number;
  awaySinceMs: number | undefined;
  expiry: ControlExpiry | null;
  timer: NodeJS.Timeout | undefined;
  held: HeldInput;
  activity: ControlActivity;
  /** Whether the person has had control during a handover. */
  isPrivate: boolean;
};

/** The control of one session. */
export type Entry = {
  sessionId: string;
  stamp: number;
  lease: Lease | undefined;
  /** The take that waits until the agent's script has ended. */
  pending: { connectionId: string; name: string } | undefined;
  ended: ControlEnd | null;
  /** Whether the browser is handed over to a person. */
  isHandedOver: boolean;
};

/** The control of all sessions of a host. */
export type Leases = {
  deps: ControlLeasesDeps;
  times: ControlTimes;
  nowMs: () => number;
  entries: Map<string, Entry>;
  listeners: Map<string, Set<() => void>>;
  scripts: ReturnType<typeof createAgentScripts>;
};

/** How many sessions without a person in control are remembered. */
const FREE_MAX = 1_000;

/** Returns the entry of a session. Forgets the oldest entries of sessions in which no person has control. */
export function openEntry({ entries }: Leases, sessionId: string): Entry {
  const existing = entries.get(sessionId);
  if (existing) return existing;
  const free = [...entries.values()].filter((each) => !each.lease && !each.pending && !each.isHandedOver);
  for (const each of free.slice(0, Math.max(0, free.length - FREE_MAX))) entries.delete(each.sessionId);
  const entry: Entry = {
    sessionId,
    stamp: 0,
    lease: undefined,
    pending: undefined,
    ended: null,
    isHandedOver: false,
  };
  entries.set(sessionId, entry);
  return entry;
}

/** Notes that the person of a lease is active. */
export function use(leases: Leases, entry: Entry, lease: Lease, via: object): void {
  lease.usedAtMs = leases.nowMs();
  arrive(leases, entry, lease, via);
}

/** Notes that the connection of the person is open. */
export function arrive(leases: Leases, entry: Entry, lease: Lease, via: object): void {
  lease.via = via;
  lease.awaySinceMs = undefined;
  // Without a countdown, the timer looks at the last use when it fires.
  if (lease.expiry) review(leases, entry, lease);
}

/** Notes that the connection of the person has ended. */
export function goAway(leases: Leases, entry: Entry, lease: Lease): void {
  lease.awaySinceMs = leases.nowMs();
  sendHeld(leases, entry, lease);
  review(leases, entry, lease);
}

/** Ends a lease that has expired; otherwise shows a countdown if its end is near, and looks again later. */
export function review(leases: Leases, entry: Entry, lease: Lease): void {
  clearTimeout(lease.timer);
  const { awayMs, idleMs, warnMs } = leases.times;
  const now = leases.nowMs();
  const idleAt = lease.usedAtMs + idleMs;
  const awayAt = lease.awaySinceMs === undefined ? Number.POSITIVE_INFINITY : lease.awaySinceMs + awayMs;
  const reason = awayAt < idleAt ? "away" : "idle";
  const endAt = Math.min(awayAt, idleAt);
  if (now >= endAt) {
    end(leases, entry, reason);
    return;
  }
  const isNear = reason === "away" || now >= idleAt - warnMs;
  const before = lease.expiry;
  lease.expiry = isNear ? { reason, at: new Date(Date.now() + endAt - now).toISOString() } : null;
  lease.timer = setTimeout(() => review(leases, entry, lease), (isNear ? endAt : idleAt - warnMs) - now);
  lease.timer.unref();
  if (before?.reason !== lease.expiry?.reason) publish(leases, entry);
}

/** Ends the control of a session, if a person has it. */
export function end(
  leases: Leases,
  entry: Entry,
  reason: ControlEnd,
  about: Partial<Pick<ControlRecord, "note" | "takenBy">> = {},
): void {
  if (!entry.lease) return;
  release(leases, entry, entry.lease, reason, about);
  entry.lease = undefined;
  entry.ended = reason;
  publish(leases, entry);
}

/** Releases what the person still presses, and reports what the person did. */
export function release(
  leases: Leases,
  entry: Entry,
  lease: Lease,
  reason: ControlEnd,
  { note = null, takenBy = null }: Partial<Pick<ControlRecord, "note" | "takenBy">>,
): void {
  clearTimeout(lease.timer);
  sendHeld(leases, entry, lease);
  const { name, isPrivate } = lease;
  const full = leases.deps.addressOf(entry.sessionId);
  // A form may have sent what the person typed in the query.
  const address = full !== null && isPrivate ? withoutQuery(full) : full;
  leases.deps.onEnded(
    entry.sessionId,
    lease.activity.read().then((done) => ({ name, reason, takenBy, note, address, ...done })),
  );
}

function sendHeld({ deps }: Leases, { sessionId }: Entry, { held }: Lease): void {
  for (const input of held.releaseAll()) void deps.input(sessionId, input);
}

/** Tells everyone the state of a session. */
export function publish(leases: Leases, entry: Entry): void {
  // Also higher than in the states that an earlier entry of the session had.
  entry.stamp = Math.max(Date.now(), entry.stamp + 1);
  tell(leases, entry);
  leases.deps.onChange(toState(leases, entry));
}

/** Tells those who follow a session on this host that who has control, or takes it now, may have changed. */
export function tell({ listeners }: Leases, { sessionId }: Entry): void {
  for (const listener of [...(listeners.get(sessionId) ?? [])]) listener();
}

/** Describes the control of a session. */
export const toState = ({ deps }: Leases, entry: Entry): ControlState => {
  const { sessionId, stamp, lease, ended } = entry;
  return {
    sessionId,
    hostId: deps.hostId,
    stamp,
    holder: lease ? { connectionId: lease.connectionId, name: lease.name, expiry: lease.expiry } : null,
    ended,
    isPrivate: isPrivate(entry),
  };
};

/** @see ControlState.isPrivate */
export const isPrivate = ({ isHandedOver, lease }: Entry): boolean =>
  isHandedOver || lease?.isPrivate === true;

/** @see ControlLeases.follow */
export function follow({ listeners }: Leases, sessionId: string, listener: () => void): () => void {
  // A new function for each call, so that the same listener can be added twice.
  const entry = () => listener();
  const entries = listeners.get(sessionId) ?? new Set();
  listeners.set(sessionId, entries.add(entry));
  return () => {
    entries.delete(entry);
    if (entries.size === 0 && listeners.get(sessionId) === entries) listeners.delete(sessionId);
  };
}
