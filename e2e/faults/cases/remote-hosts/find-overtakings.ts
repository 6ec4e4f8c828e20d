/** A change of a session's browser. `sinceMs`: since when the session waits for a place; null if it does not. */
export type QueueChange = {
  sessionId: string;
  atMs: number;
  oldStatus: string | null;
  status: string;
  oldHost: string | null;
  host: string | null;
  oldSinceMs: number | null;
  sinceMs: number | null;
};

/** The wait of a session for a place. `queuedAtMs` is when it was stored, `endedAtMs` when the session got a place. */
export type PlaceWait = {
  sessionId: string;
  sinceMs: number;
  queuedAtMs: number;
  endedAtMs: number;
  /** Whether the session got a place, and did not leave the queue. */
  isTaken: boolean;
  /** When the session could get no place, because the host at which it waited was lost and no call had repeated it. */
  pauses: { fromMs: number; toMs: number }[];
};

/** The start of a browser, from the record of its start until it runs. */
type Start = { sessionId: string; fromMs: number; toMs: number; hasWaited: boolean };

/** Two hosts take sessions at the same time, and a statement is visible to others only after it has ended. */
const AT_ONCE_MS = 100;

/** Lists the waits, in order of their ends. A wait without an end ends at infinity. */
export function listWaits(changes: readonly QueueChange[]): PlaceWait[] {
  const open = new Map<string, PlaceWait>();
  const all: PlaceWait[] = [];
  for (const { sessionId, atMs, oldStatus, status, oldSinceMs, sinceMs } of changes) {
    let wait = open.get(sessionId);
    if (!wait && sinceMs !== null && oldSinceMs === null) {
      const endedAtMs = Number.POSITIVE_INFINITY;
      wait = { sessionId, sinceMs, queuedAtMs: atMs, endedAtMs, isTaken: false, pauses: [] };
      open.set(sessionId, wait);
      all.push(wait);
    }
    if (!wait) continue;
    const pause = wait.pauses.at(-1);
    if (oldStatus === "creating" && status !== "creating")
      wait.pauses.push({ fromMs: atMs, toMs: Number.POSITIVE_INFINITY });
    else if (pause && status === "creating") pause.toMs = Math.min(pause.toMs, atMs);
    if (sinceMs !== null) continue;
    wait.endedAtMs = atMs;
    wait.isTaken = status === "creating";
    open.delete(sessionId);
  }
  return all.sort((one, other) => one.endedAtMs - other.endedAtMs);
}

function listStarts(changes: readonly QueueChange[]): Start[] {
  const open = new Map<string, Start>();
  const all: Start[] = [];
  for (const { sessionId, atMs, oldStatus, status, sinceMs } of changes) {
    if (status === "creating" && oldStatus !== "creating")
      open.set(sessionId, { sessionId, fromMs: atMs, toMs: atMs, hasWaited: false });
    const start = open.get(sessionId);
    if (!start) continue;
    start.hasWaited ||= sinceMs !== null;
    if (status === "creating") continue;
    open.delete(sessionId);
    if (status === "ready") all.push({ ...start, toMs: atMs });
  }
  return all;
}

const couldGetPlace = ({ pauses }: PlaceWait, fromMs: number, toMs = fromMs) =>
  !pauses.some((pause) => pause.fromMs < toMs && pause.toMs > fromMs);

/** Finds the sessions that got a place before a session that had waited for longer. @returns a sentence for each. */
export function findOvertakings(changes: readonly QueueChange[]): string[] {
  const waits = listWaits(changes);
  const taken = waits.filter(({ isTaken }) => isTaken);
  const inQueue = taken.flatMap((next) =>
    waits
      .filter(
        (other) =>
          other.sinceMs < next.sinceMs &&
          other.queuedAtMs + AT_ONCE_MS < next.endedAtMs &&
          other.endedAtMs > next.endedAtMs + AT_ONCE_MS &&
          couldGetPlace(other, next.endedAtMs),
      )
      .map((other) => `${next.sessionId} got a place before ${other.sessionId}, which had waited for longer`),
  );
  const past = listStarts(changes)
    .filter(({ hasWaited }) => !hasWaited)
    .flatMap(({ sessionId, fromMs, toMs }) =>
      waits
        .filter(
          (other) =>
            other.sessionId !== sessionId &&
            other.queuedAtMs + AT_ONCE_MS < fromMs &&
            other.endedAtMs > toMs &&
            couldGetPlace(other, fromMs, toMs),
        )
        .map((other) => `${sessionId} got a place without waiting, while ${other.sessionId} waited`),
    );
  return [...inQueue, ...past];
}

/** Returns the largest number of browsers that ran at one host at the same time. */
export function countMostAtOneHost(changes: readonly QueueChange[]): number {
  const running = new Map<string, Set<string>>();
  let most = 0;
  for (const { sessionId, status, host } of changes) {
    for (const sessions of running.values()) sessions.delete(sessionId);
    if (status !== "ready" || host === null) continue;
    const sessions = running.get(host) ?? new Set();
    running.set(host, sessions.add(sessionId));
    most = Math.max(most, sessions.size);
  }
  return most;
}
