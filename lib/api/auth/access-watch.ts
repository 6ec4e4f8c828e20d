import type { Topic } from "#lib/events/bus/topic.ts";
import type { KeyScope } from "#lib/keys/key-scopes.ts";
import type { LiveKey } from "#lib/keys/key-store.ts";
import type { Logger } from "#lib/log/logger.ts";

/**
 * The credential that keeps a connection open. When the credential is revoked or expires, the connection is closed. The
 * `scopes` of a key are the scopes that the connection needs: the connection is also closed when the key loses one of
 * them.
 */
export type Grant = (
  | { kind: "key"; keyId: string; scopes: readonly KeyScope[] }
  /**
   * `linkId` is null for a token that was derived from the session. Such a token ends when the session's revocation
   * counter rises above `revocation`.
   */
  | { kind: "share"; sessionId: string; linkId: string | null; revocation: number }
) & {
  expiresAt: Date | null;
  /** Time just before the credential was read from the database (`performance.now()`). */
  checkedAt: number;
};

/**
 * Why a grant ended:
 * - `ended`: the credential was revoked or has expired.
 * - `narrowed`: the key lost a scope that the connection needs. The client may connect again with the remaining scopes.
 * - `unknown`: the database could not be read. The client may connect again; the credential is then checked again.
 */
export type GrantEnd = { reason: "ended" | "narrowed" | "unknown"; sentence: string };

/**
 * Ends the open connections of a credential, in every process, when the credential is revoked, expires or loses a scope
 * that they need, or when a change of the credential cannot be checked.
 */
export type AccessWatch = {
  /** Watches a grant and calls `onEnd` once when the grant ends. @returns a function that stops watching. */
  watch: (grant: Grant, onEnd: (end: GrantEnd) => void) => () => void;
  /** Tells every process that a key was revoked, or that its expiry or its scopes changed. */
  keyChanged: (keyId: string) => void;
  /** Tells every process that share links of a session were revoked. */
  sharesChanged: (sessionId: string) => void;
  close: () => void;
};

/**
 * Reads the current state of keys and share links. The result leaves out keys that are unknown, revoked or expired, and
 * sessions that do not exist.
 */
export type AccessRows = {
  /** Reads the live keys, by key id. */
  readKeys: (keyIds: string[]) => Promise<Map<string, LiveKey>>;
  /**
   * Reads the revocation counter and the live share links of each session, by session id. `links` maps the id of a link
   * to its expiry.
   */
  readShares: (
    sessionIds: string[],
  ) => Promise<Map<string, { revocation: number; links: Map<string, Date | null> }>>;
};

/** The bus topic that announces changes of keys and share links. */
export const ACCESS_TOPIC = "access-changed";

/** A watched grant. */
type Entry = { grant: Grant; expiresAt: Date | null; onEnd: (end: GrantEnd) => void; timer?: NodeJS.Timeout };

/** The longest delay that a Node.js timer supports. */
const TIMER_MS_MAX = 2 ** 31 - 1;
/**
 * Milliseconds for which a change is remembered. They must exceed the time between the read of a credential and the
 * start of its watch.
 */
const REMEMBER_MS = 60_000;
/** Time between two comparisons of all open connections with the database. */
const SWEEP_MS = 15_000;

/**
 * Creates the watch. It groups grants by subject; a subject is one key, or the share links of one session. A change of
 * a subject is announced on the bus, and each process with connections of the subject reads the subject's rows again.
 * Because a process can crash after a change and before its announcement, a periodic sweep also reads the rows of all
 * open connections (at most two statements).
 */
export function createAccessWatch(deps: {
  rows: AccessRows;
  topic: Topic;
  logger: Pick<Logger, "warn">;
  sweepMs?: number;
}): AccessWatch {
  const { rows, topic, logger, sweepMs = SWEEP_MS } = deps;
  /** The watched grants, by their subject. */
  const watched = new Map<string, Set<Entry>>();
  /**
   * Time of the last change of each subject (`performance.now()`). Detects a change that happens after a credential was
   * read and before its watch starts.
   */
  const changedAt = new Map<string, number>();
  /** The last time at which announcements may have been missed (`performance.now()`). */
  let gapAt = Number.NEGATIVE_INFINITY;
  /** Set while grants are watched. */
  let sweeper: NodeJS.Timeout | undefined;

  function end(subject: string, entry: Entry, why: GrantEnd): void {
    if (drop(subject, entry)) entry.onEnd(why);
  }
  function drop(subject: string, entry: Entry): boolean {
    clearTimeout(entry.timer);
    const entries = watched.get(subject);
    const wasWatched = entries?.delete(entry) ?? false;
    if (entries?.size === 0) watched.delete(subject);
    if (watched.size === 0) {
      clearInterval(sweeper);
      sweeper = undefined;
    }
    return wasWatched;
  }
  function armExpiry(subject: string, entry: Entry): void {
    clearTimeout(entry.timer);
    if (!entry.expiresAt) return;
    const leftMs = entry.expiresAt.getTime() - Date.now();
    if (leftMs <= 0) {
      end(subject, entry, describeEnd(entry.grant, "has expired"));
      return;
    }
    entry.timer = setTimeout(() => armExpiry(subject, entry), Math.min(leftMs, TIMER_MS_MAX));
    entry.timer.unref();
  }

  /**
   * Reads the rows of the given entries (at most two statements). Ends the grants whose credential was revoked, has
   * expired or lacks a needed scope, and updates the expiry of the other grants. @throws if reading fails.
   */
  async function compare(entries: { subject: string; entry: Entry }[]): Promise<void> {
    const keyIds = entries.flatMap(({ entry: { grant } }) => (grant.kind === "key" ? [grant.keyId] : []));
    const sessionIds = entries.flatMap(({ entry: { grant } }) =>
      grant.kind === "share" ? [grant.sessionId] : [],
    );
    const readAt = performance.now();
    const keys = await read([...new Set(keyIds)], rows.readKeys);
    const shares = await read([...new Set(sessionIds)], rows.readShares);
    for (const { subject, entry } of entries) {
      // An entry whose subject changed during this read is skipped. The change has started another comparison.
      if ((changedAt.get(subject) ?? readAt) > readAt) continue;
      const expiresAt = readExpiry(entry.grant, keys, shares);
      if (expiresAt === undefined) end(subject, entry, describeEnd(entry.grant, "was revoked"));
      else if (lacksScope(entry.grant, keys))
        end(subject, entry, {
          reason: "narrowed",
          sentence: "the scopes of the API key changed; connect again",
        });
      else if (watched.get(subject)?.has(entry)) {
        entry.expiresAt = expiresAt;
        armExpiry(subject, entry);
      }
    }
  }

  const listEntries = (subjects: Iterable<string>) =>
    [...subjects].flatMap((subject) =>
      [...(watched.get(subject) ?? [])].map((entry) => ({ subject, entry })),
    );

  /**
   * Compares the connections of changed subjects with the database. If the comparison fails, ends all these
   * connections, because each may have lost its access.
   */
  async function recheck(subjects: Iterable<string>): Promise<void> {
    const entries = listEntries(subjects);
    if (entries.length === 0) return;
    try {
      await compare(entries);
    } catch (error) {
      logger.warn(
        { err: error },
        "open connections were closed because their credentials could not be checked",
      );
      for (const { subject, entry } of entries)
        end(subject, entry, {
          reason: "unknown",
          sentence: "the credential could not be checked; connect again",
        });
    }
  }

  /**
   * Compares all connections with the database. If the comparison fails, the connections stay open, because no change
   * was announced.
   */
  async function sweep(): Promise<void> {
    try {
      await compare(listEntries(watched.keys()));
    } catch (error) {
      logger.warn(
        { err: error },
        "the credentials of open connections could not be compared with the database",
      );
    }
  }

  const stopListening = topic.subscribe(
    (subject) => {
      const now = performance.now();
      for (const [earlier, at] of changedAt) if (now - at > REMEMBER_MS) changedAt.delete(earlier);
      changedAt.set(subject, now);
      void recheck([subject]);
    },
    () => {
      gapAt = performance.now();
      void recheck([...watched.keys()]);
    },
  );

  return {
    watch(grant, onEnd) {
      const subject = nameSubject(grant);
      const entry: Entry = { grant, expiresAt: grant.expiresAt, onEnd };
      watched.set(subject, (watched.get(subject) ?? new Set()).add(entry));
      sweeper ??= setInterval(() => void sweep(), sweepMs).unref();
      armExpiry(subject, entry);
      if (Math.max(gapAt, changedAt.get(subject) ?? gapAt) >= grant.checkedAt) void recheck([subject]);
      return () => void drop(subject, entry);
    },
    keyChanged: (keyId) => topic.publish(nameKey(keyId)),
    sharesChanged: (sessionId) => topic.publish(nameShares(sessionId)),
    close() {
      stopListening();
      clearInterval(sweeper);
      for (const entries of watched.values()) for (const { timer } of entries) clearTimeout(timer);
      watched.clear();
    },
  };
}

const nameKey = (keyId: string) => `key ${keyId}`;
const nameShares = (sessionId: string) => `share ${sessionId}`;
const nameSubject = (grant: Grant) =>
  grant.kind === "key" ? nameKey(grant.keyId) : nameShares(grant.sessionId);

const read = <Row>(
  ids: string[],
  from: (ids: string[]) => Promise<Map<string, Row>>,
): Promise<Map<string, Row>> => (ids.length === 0 ? Promise.resolve(new Map()) : from(ids));

/**
 * Returns a grant's current expiry. Null if the grant never expires. Undefined if the grant was revoked or has expired,
 * or if its session no longer exists.
 */
function readExpiry(
  grant: Grant,
  keys: Awaited<ReturnType<AccessRows["readKeys"]>>,
  shares: Awaited<ReturnType<AccessRows["readShares"]>>,
): Date | null | undefined {
  if (grant.kind === "key") return keys.get(grant.keyId)?.expiresAt;
  const session = shares.get(grant.sessionId);
  if (grant.linkId !== null) return session?.links.get(grant.linkId);
  return session?.revocation === grant.revocation ? null : undefined;
}

const lacksScope = (grant: Grant, keys: Awaited<ReturnType<AccessRows["readKeys"]>>): boolean =>
  grant.kind === "key" && !grant.scopes.every((scope) => keys.get(grant.keyId)?.scopes.includes(scope));

const describeEnd = ({ kind }: Grant, how: string): GrantEnd => ({
  reason: "ended",
  sentence: `the ${kind === "key" ? "API key" : "share link"} ${how}`,
});
