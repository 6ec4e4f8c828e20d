import { sql } from "drizzle-orm";
import type { Transaction } from "./client.ts";

/**
 * Locks something of an owner for the rest of the transaction, so that what several sessions add to it is counted one after
 * the other. An owner has no row that could be locked.
 *
 * @param what names it, such as `pages`
 */
export async function lockOwner(tx: Transaction, what: string, ownerId: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`${what} ${ownerId}`}, 0))`);
}
