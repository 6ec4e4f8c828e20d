import { LRUCache } from "lru-cache";
import type { Database } from "#db/client.ts";
import { mebibytes } from "../byte-limits.ts";
import { countSessions, type SessionCounts, sumStoredBytes } from "../store/owner-usage-store.ts";

/** Limits of one owner; 0 means no limit. */
export type OwnerLimits = { storedSessions: number; openSessions: number; storedBytes: number };

/** A reservation for a session that is about to be created, or the reason why the session is refused. */
type Reservation =
  /** `settle` ends the reservation. If the session was not created, its place is free again. */
  { ok: true; end: (isCreated: boolean) => void } | { ok: false; error: string };

/** Limits how many sessions an owner has, and how much they store. */
export type OwnerQuota = {
  /** Reserves a place for a new session of an owner. A refusal names the limit. */
  admit: (ownerId: string) => Promise<Reservation>;
  /** Drops the cached count of an owner, because a session was deleted. */
  forget: (ownerId: string) => void;
};

/** Maximum age of a cached count. */
const FRESH_MS = 10_000;
const OWNERS_MAX = 5_000;

/** The counted usage of an owner, plus the sessions that this process has created since the count. */
type Usage = SessionCounts & { bytes: number; readAt: number };

/**
 * Creates the quota. The usage of an owner is counted only if there is a limit. A count is cached for ten seconds. A
 * cached count never causes a refusal, because turns may have ended since. Concurrent creations in one process do not
 * exceed a limit. With several processes, an owner may exceed a limit by the sessions that other processes create within
 * these ten seconds. Source: decision 050.
 *
 * @param now a monotonic clock, in milliseconds.
 */
export function createOwnerQuota(
  db: Database,
  limits: OwnerLimits,
  now: () => number = () => performance.now(),
): OwnerQuota {
  const usages = new LRUCache<string, Usage>({ max: OWNERS_MAX });
  const reading = new Map<string, Promise<Usage>>();
  /** Number of sessions that are being created, by owner. */
  const pending = new Map<string, number>();
  const hasLimit = Object.values(limits).some((limit) => limit > 0);

  async function count(ownerId: string): Promise<Usage> {
    const readAt = now();
    const [counts, bytes] = await Promise.all([
      limits.storedSessions + limits.openSessions > 0 ? countSessions(db, ownerId) : { stored: 0, open: 0 },
      limits.storedBytes > 0 ? sumStoredBytes(db, ownerId) : 0,
    ]);
    const usage = { ...counts, bytes, readAt };
    usages.set(ownerId, usage);
    return usage;
  }

  /** Counts the usage of an owner; concurrent calls share one count. */
  function read(ownerId: string): Promise<Usage> {
    const shared = reading.get(ownerId) ?? count(ownerId).finally(() => reading.delete(ownerId));
    reading.set(ownerId, shared);
    return shared;
  }

  /**
   * Describes the limit that one more session would exceed. A limit that stored sessions have reached comes first,
   * because a session that is being created may be counted already, and would then count twice.
   */
  const refuse = (ownerId: string, usage: Usage) =>
    describeExcess(usage, 0, limits) ?? describeExcess(usage, pending.get(ownerId) ?? 0, limits);

  function changePending(ownerId: string, by: 1 | -1): void {
    const next = (pending.get(ownerId) ?? 0) + by;
    if (next === 0) pending.delete(ownerId);
    else pending.set(ownerId, next);
  }

  return {
    async admit(ownerId) {
      if (!hasLimit) return { ok: true, end() {} };
      const cached = usages.get(ownerId);
      const isFresh = cached !== undefined && now() - cached.readAt < FRESH_MS;
      let usage = isFresh ? cached : await read(ownerId);
      if (isFresh && refuse(ownerId, usage) !== undefined) usage = await read(ownerId);
      const error = refuse(ownerId, usage);
      if (error !== undefined) return { ok: false, error };
      changePending(ownerId, 1);
      return {
        ok: true,
        end(isCreated) {
          changePending(ownerId, -1);
          const counted = usages.get(ownerId);
          if (!isCreated || !counted) return;
          counted.stored++;
          counted.open++;
        },
      };
    },
    forget: (ownerId) => void usages.delete(ownerId),
  };
}

const sessions = (count: number): string =>
  `${count.toLocaleString("en-US")} session${count === 1 ? "" : "s"}`;

/** Describes the limit that one more session would exceed; undefined if the session may be created. */
function describeExcess(usage: Usage, pending: number, limits: OwnerLimits): string | undefined {
  const { storedSessions, openSessions, storedBytes } = limits;
  if (storedSessions > 0 && usage.stored + pending >= storedSessions)
    return `the owner of this key has ${sessions(usage.stored + pending)}; an owner may have ${storedSessions.toLocaleString("en-US")} (OWNER_STORED_SESSIONS). Delete one`;
  if (openSessions > 0 && usage.open + pending >= openSessions)
    return `the owner of this key has ${sessions(usage.open + pending)} with an open turn; an owner may have ${openSessions.toLocaleString("en-US")} (OWNER_OPEN_SESSIONS). Wait until a turn ends, or stop one`;
  if (storedBytes > 0 && usage.bytes >= storedBytes)
    return `the sessions of this key's owner have stored ${mebibytes(usage.bytes)}; an owner may store ${mebibytes(storedBytes)} (OWNER_STORED_MIB). Delete sessions`;
  return undefined;
}
