import type { Words } from "#lib/events/bus/words.ts";
import type { KeyScope } from "#lib/keys/key-scopes.ts";
import type { LiveKey } from "#lib/keys/key-store.ts";
import type { Logger } from "#lib/log/logger.ts";

/** What let a connection in, as far as it can be withdrawn while the connection is open. */
export type Grant =
  /** `scopes`: those that the connection needs as long as it is open. */
  (
    | { kind: "key"; keyId: string; scopes: readonly KeyScope[] }
    /** `linkId` null: a token derived from the session, which a higher revocation counter ends. */
    | { kind: "share"; sessionId: string; linkId: string | null; revocation: number }
  ) & {
    expiresAt: Date | null;
    /** `performance.now()` before the credential was read. */
    checkedAt: number;
  };

/**
 * Why a grant no longer holds:
 * - `ended`: the credential was revoked or has expired.
 * - `narrowed`: the key lost a scope that the connection needs. A new connection gets what the key still allows.
 * - `unknown`: the database could not be read. A new connection checks the credential again.
 */
export type GrantEnd = { reason: "ended" | "narrowed" | "unknown"; sentence: string };

/** Ends open connections whose credential was revoked, has expired or lost a scope, in every process. */
export type AccessWatch = {
  /** Calls `onEnd` once when the grant no longer holds. @returns the way to stop watching. */
  hold: (grant: Grant, onEnd: (end: GrantEnd) => void) => () => void;
  /** Tells every process that a key was revoked, or got another expiry or other scopes. */
  keyChanged: (keyId: string) => void;
  /** Tells every process that share links of a session were revoked. */
  sharesChanged: (sessionId: string) => void;
  close: () => void;
};

/** What the database says now of the subjects of grants; a subject that is missing no longer exists. */
export type AccessRows = {
  /** Live keys by their id. */
  readKeys: (keyIds: string[]) => Promise<Map<string, LiveKey>>;
  /** The revocation counters of sessions, and when their live links expire, by the link's id. */
  readShares: (
    sessionIds: string[],
  ) => Promise<Map<string, { revocation: number; links: Map<string, Date | null> }>>;
};

/** The bus topic of its words. */
export const ACCESS_TOPIC = "access-changed";

type Hold = { grant: Grant; expiresAt: Date | null; onEnd: (end: GrantEnd) => void; timer?: NodeJS.Timeout };

/** A timer of Node holds at most this long. */
const TIMER_MS_MAX = 2 ** 31 - 1;
/** A credential is used at most this long after it was read. */
const REMEMBER_MS = 60_000;
/** Interval between two comparisons of all open connections with the database. */
const SWEEP_MS = 15_000;

/**
 * Makes the watch. A change is announced by a word over the bus that names a key or a session; each process with a
 * connection of that subject reads its rows again. A sweep reads the rows of all open connections, at most two
 * statements, because a process can crash between its change and the word.
 */
export function createAccessWatch(deps: {
  rows: AccessRows;
  words: Words;
  logger: Pick<Logger, "warn">;
  sweepMs?: number;
}): AccessWatch {
  const { rows, words, logger, sweepMs = SWEEP_MS } = deps;
  const holds = new Map<string, Set<Hold>>();
  /** When each subject changed last, for connections whose credential was read before the change and held after it. */
  const changedAt = new Map<string, number>();
  let gapAt = Number.NEGATIVE_INFINITY;
  /** Set while there are connections. */
  let sweeper: NodeJS.Timeout | undefined;

  function end(subject: string, hold: Hold, why: GrantEnd): void {
    if (drop(subject, hold)) hold.onEnd(why);
  }
  function drop(subject: string, hold: Hold): boolean {
    clearTimeout(hold.timer);
    const same = holds.get(subject);
    const isHeld = same?.delete(hold) ?? false;
    if (same?.size === 0) holds.delete(subject);
    if (holds.size === 0) {
      clearInterval(sweeper);
      sweeper = undefined;
    }
    return isHeld;
  }
  function armExpiry(subject: string, hold: Hold): void {
    clearTimeout(hold.timer);
    if (!hold.expiresAt) return;
    const leftMs = hold.expiresAt.getTime() - Date.now();
    if (leftMs <= 0) {
      end(subject, hold, describeEnd(hold.grant, "has expired"));
      return;
    }
    hold.timer = setTimeout(() => armExpiry(subject, hold), Math.min(leftMs, TIMER_MS_MAX));
    hold.timer.unref();
  }

  /** Reads the rows of these subjects, at most two statements, and ends what no longer holds. @throws if that fails. */
  async function compare(held: { subject: string; hold: Hold }[]): Promise<void> {
    const keyIds = held.flatMap(({ hold: { grant } }) => (grant.kind === "key" ? [grant.keyId] : []));
    const sessionIds = held.flatMap(({ hold: { grant } }) =>
      grant.kind === "share" ? [grant.sessionId] : [],
    );
    const readAt = performance.now();
    const keys = await read([...new Set(keyIds)], rows.readKeys);
    const shares = await read([...new Set(sessionIds)], rows.readShares);
    for (const { subject, hold } of held) {
      // A change during the reading has a comparison of its own.
      if ((changedAt.get(subject) ?? readAt) > readAt) continue;
      const expiresAt = readExpiry(hold.grant, keys, shares);
      if (expiresAt === undefined) end(subject, hold, describeEnd(hold.grant, "was revoked"));
      else if (lacksScope(hold.grant, keys))
        end(subject, hold, {
          reason: "narrowed",
          sentence: "the scopes of the API key changed; connect again",
        });
      else if (holds.get(subject)?.has(hold)) {
        hold.expiresAt = expiresAt;
        armExpiry(subject, hold);
      }
    }
  }

  const listHeld = (subjects: Iterable<string>) =>
    [...subjects].flatMap((subject) => [...(holds.get(subject) ?? [])].map((hold) => ({ subject, hold })));

  /** Compares the connections of subjects that changed; closes them if they cannot be compared. */
  async function recheck(subjects: Iterable<string>): Promise<void> {
    const held = listHeld(subjects);
    if (held.length === 0) return;
    try {
      await compare(held);
    } catch (error) {
      logger.warn(
        { err: error },
        "open connections were closed because their credentials could not be checked",
      );
      for (const { subject, hold } of held)
        end(subject, hold, {
          reason: "unknown",
          sentence: "the credential could not be checked; connect again",
        });
    }
  }

  /** Compares all connections. Nothing indicates a change, so they stay open if they cannot be compared. */
  async function sweep(): Promise<void> {
    try {
      await compare(listHeld(holds.keys()));
    } catch (error) {
      logger.warn(
        { err: error },
        "the credentials of open connections could not be compared with the database",
      );
    }
  }

  const stopListening = words.listen(
    (subject) => {
      const now = performance.now();
      for (const [known, at] of changedAt) if (now - at > REMEMBER_MS) changedAt.delete(known);
      changedAt.set(subject, now);
      void recheck([subject]);
    },
    () => {
      gapAt = performance.now();
      void recheck([...holds.keys()]);
    },
  );

  return {
    hold(grant, onEnd) {
      const subject = nameSubject(grant);
      const hold: Hold = { grant, expiresAt: grant.expiresAt, onEnd };
      holds.set(subject, (holds.get(subject) ?? new Set()).add(hold));
      sweeper ??= setInterval(() => void sweep(), sweepMs).unref();
      armExpiry(subject, hold);
      if (Math.max(gapAt, changedAt.get(subject) ?? gapAt) >= grant.checkedAt) void recheck([subject]);
      return () => void drop(subject, hold);
    },
    keyChanged: (keyId) => words.tell(nameKey(keyId)),
    sharesChanged: (sessionId) => words.tell(nameShares(sessionId)),
    close() {
      stopListening();
      clearInterval(sweeper);
      for (const same of holds.values()) for (const { timer } of same) clearTimeout(timer);
      holds.clear();
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

/** When a grant expires by these rows, null for never; undefined if it no longer holds. */
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
