import { eq, inArray, or, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { agents, ownerSpend, sessions } from "#db/schema/index.ts";
import { defineStatement, queryRows } from "#db/statement.ts";
import type { Budget, Spend } from "./budget.ts";

/** The budget of a root session and its sub-agents, and what these sessions have spent together. */
export type TreeBudget = { budget: Budget | null; spent: Spend };

const inTree = (rootId: string) =>
  or(
    eq(sessions.id, rootId),
    sql`${sessions.id} in (select ${agents.sessionId} from ${agents} where ${agents.rootSessionId} = ${rootId})`,
  );

/**
 * Reads the budget of a root session, and what the session and its sub-agents have spent. Returns undefined if the
 * session is deleted.
 */
export async function readTreeBudget(db: Executor, rootId: string): Promise<TreeBudget | undefined> {
  const [row] = await db
    .select({
      budget: sql<Budget | null>`(array_agg(${sessions.budget}) filter (where ${sessions.id} = ${rootId}))[1]`,
      count: sql<number>`count(*)::int`,
      tokens: sql<number>`coalesce(sum(${sessions.spentTokens}), 0)::float8`,
      usd: sql<number>`coalesce(sum(${sessions.spentUsd}), 0)::float8`,
      ms: sql<number>`coalesce(sum(${sessions.spentMs}), 0)::float8`,
    })
    .from(sessions)
    .where(inTree(rootId));
  if (!row || row.count === 0) return undefined;
  const { budget, tokens, usd, ms } = row;
  return { budget, spent: { tokens: Number(tokens), usd: Number(usd), ms: Number(ms) } };
}

/** Reads the stored budget of a session; null if the session has no budget or does not exist. */
export async function readBudget(db: Executor, sessionId: string): Promise<Budget | null> {
  const [row] = await db.select({ budget: sessions.budget }).from(sessions).where(eq(sessions.id, sessionId));
  return row?.budget ?? null;
}

/**
 * Stores the budget in the rows of a root session and all its sub-agents, so that a sub-agent's own row contains it.
 */
export async function storeTreeBudget(tx: Transaction, rootId: string, budget: Budget | null): Promise<void> {
  // Ancestors are older than their descendants (`architecture.md`, Locks).
  const tree = await tx
    .select({ id: sessions.id })
    .from(sessions)
    .where(inTree(rootId))
    .orderBy(sessions.createdAt, sessions.id)
    .for("no key update");
  const ids = tree.map(({ id }) => id);
  await tx.update(sessions).set({ budget }).where(inArray(sessions.id, ids));
}

const addOwnerSpend = defineStatement<"ownerId" | "day" | "tokens" | "usd" | "ms">(
  (value) => sql`
    insert into ${ownerSpend} as spend (owner_id, day, tokens, usd, ms)
    values (${value("ownerId")}, ${value("day")}::date, ${value("tokens")}::bigint, ${value("usd")}::float8, ${value("ms")}::bigint)
    on conflict (owner_id, day) do update set tokens = spend.tokens + excluded.tokens, usd = spend.usd + excluded.usd,
      ms = spend.ms + excluded.ms
    returning tokens::float8 as tokens, usd, ms::float8 as ms`,
);

/**
 * Adds to the spend of an owner on one day.
 *
 * @param day the day in UTC, such as `2026-11-25`.
 * @returns the owner's new total for the day, including the spend that other processes have added.
 */
export async function addToOwnerSpend(
  db: Executor,
  ownerId: string,
  day: string,
  { tokens, usd, ms }: Spend,
): Promise<Spend> {
  const values = { ownerId, day, tokens: Math.round(tokens), usd, ms: Math.round(ms) };
  const [row] = await queryRows<Spend>(db, addOwnerSpend(values));
  if (!row) throw new Error("the spend of an owner was not stored");
  return { tokens: Number(row.tokens), usd: Number(row.usd), ms: Number(row.ms) };
}

/** Deletes the spend of all owners on the days before `day`. */
export async function deleteOwnerSpendBefore(db: Executor, day: string): Promise<void> {
  await db.delete(ownerSpend).where(sql`${ownerSpend.day} < ${day}::date`);
}
