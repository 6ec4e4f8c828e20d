import type { Database } from "#db/client.ts";
import type { Logger } from "#lib/log/logger.ts";
import {
  addSpend,
  type Budget,
  describeExhausted,
  NO_SPEND,
  type Spend,
} from "#lib/session/budget/budget.ts";
import { addToOwnerSpend } from "#lib/session/budget/budget-store.ts";

/** Counts what each owner spends per day, and compares it with the daily budget, which is the same for all owners. */
export type OwnerAccounts = {
  add: (ownerId: string, spend: Spend) => void;
  /**
   * Returns undefined if the owner may spend more today; otherwise the reason, and when the next day begins (`until`).
   */
  findExhausted: (ownerId: string) => Promise<{ sentence: string; until: Date } | undefined>;
  /** Writes what all accounts have pending. A failure is logged; what could not be written stays pending. */
  flush: () => Promise<void>;
  /** Stops the timer and flushes all pending spend. */
  close: () => Promise<void>;
};

/** Interval at which pending spend is flushed to the database. */
const FLUSH_MS = 5_000;
/** Maximum age of the cached total of an owner. An older total is read from the database again. */
const FRESH_MS = 15_000;
const DAY_MS = 86_400_000;

/**
 * The spend of an owner on one day. `written` is the total of all processes at the last flush. `pending` is the spend
 * that this process has counted but not flushed yet.
 */
type Account = {
  ownerId: string;
  day: string;
  written: Spend;
  pending: Spend;
  /** When `written` was read, on the clock of `performance.now()`; undefined before the first read. */
  readAt: number | undefined;
  flushing: Promise<void> | undefined;
};

/**
 * Creates the accounts. Counting a model call runs no SQL statement: each process adds up the spend in memory and
 * flushes it every five seconds. A flush is one statement per owner; it also returns the total of all processes. A
 * process that is killed loses the spend since its last successful flush, usually at most five seconds.
 *
 * @param deps.now the current time in ms since the epoch; tests replace it.
 */
export function createOwnerAccounts(
  deps: { db: Database; logger: Pick<Logger, "warn">; now?: () => number },
  budget: Budget,
): OwnerAccounts {
  const { db, logger, now = Date.now } = deps;
  const accounts = new Map<string, Account>();
  const timer = setInterval(() => void flushAll(), FLUSH_MS).unref();

  function findAccount(ownerId: string): Account {
    const day = dayOf(now());
    const key = `${day}/${ownerId}`;
    const account = accounts.get(key) ?? {
      ownerId,
      day,
      written: NO_SPEND,
      pending: NO_SPEND,
      readAt: undefined,
      flushing: undefined,
    };
    accounts.set(key, account);
    return account;
  }

  async function write(account: Account): Promise<void> {
    const { ownerId, day, pending } = account;
    account.pending = NO_SPEND;
    try {
      account.written = await addToOwnerSpend(db, ownerId, day, pending);
      account.readAt = performance.now();
    } catch (error) {
      account.pending = addSpend(account.pending, pending);
      throw error;
    }
  }

  /** Writes the pending spend of an account and reads the account's total. Concurrent calls share one statement. */
  function flushAccount(account: Account): Promise<void> {
    account.flushing ??= write(account).finally(() => {
      account.flushing = undefined;
    });
    return account.flushing;
  }

  /** Writes what an account has pending. A failure is logged. */
  async function flushPending(account: Account): Promise<void> {
    if (account.pending === NO_SPEND) return;
    await flushAccount(account).catch((error: unknown) =>
      logger.warn({ err: error, ownerId: account.ownerId }, "writing the spend of an owner failed"),
    );
  }

  async function flushAll(): Promise<void> {
    const today = dayOf(now());
    for (const [key, account] of accounts) {
      await flushPending(account);
      const isOver = account.day !== today && account.pending === NO_SPEND;
      if (isOver) accounts.delete(key);
    }
  }

  async function flush(): Promise<void> {
    for (const account of accounts.values()) {
      // A statement in progress does not contain what was added after it began.
      await account.flushing?.catch(() => {});
      await flushPending(account);
    }
  }

  return {
    add(ownerId, spend) {
      const account = findAccount(ownerId);
      account.pending = addSpend(account.pending, spend);
    },
    async findExhausted(ownerId) {
      const account = findAccount(ownerId);
      const isFresh = account.readAt !== undefined && performance.now() - account.readAt < FRESH_MS;
      if (!isFresh) await flushAccount(account);
      const spent = addSpend(account.written, account.pending);
      const reached = describeExhausted(budget, spent, " a day");
      if (reached === undefined) return undefined;
      const until = new Date(Date.parse(account.day) + DAY_MS);
      return {
        sentence: `The owner's budget of ${reached}. The turn continues at midnight UTC.`,
        until,
      };
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
