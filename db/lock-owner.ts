import { sql } from "drizzle-orm";
import type { Transaction } from "./client.ts";

/**
 * Locks a resource of an owner until the transaction ends, so that several sessions cannot exceed the owner's limit by
 * adding to the resource at the same time. It is an advisory lock, because an owner has no row.
 *
 * @param what name of the resource, such as `pages`
 */
export async function lockOwner(tx: Transaction, what: string, ownerId: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`${what} ${ownerId}`}, 0))`);
}
