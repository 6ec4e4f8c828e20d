import type { Database } from "../client.ts";
import { isConnectionLost } from "../unavailability.ts";

type PooledClient = { release: (destroy?: boolean) => void };

/**
 * Replaces Drizzle's `transaction`, which handles lost connections badly. If `begin` fails, Drizzle never releases the
 * connection, so a few server restarts exhaust the pool. If `rollback` fails, Drizzle throws the error of the rollback
 * instead of the original error.
 *
 * @param wrap creates a Drizzle database on one connection.
 */
export function withSafeTransactions<Client extends PooledClient>(
  db: Database,
  connect: () => Promise<Client>,
  wrap: (client: Client) => Database,
): Database {
  const wrapped = new WeakMap<Client, Database>();
  const obtain = (client: Client) => {
    const existing = wrapped.get(client);
    if (existing) return existing;
    const created = wrap(client);
    wrapped.set(client, created);
    return created;
  };
  db.transaction = async (work, config) => {
    const client = await connect();
    let failure: { error: unknown } | undefined;
    let isLost = false;
    try {
      return await obtain(client).transaction(async (tx) => {
        try {
          return await work(tx);
        } catch (error) {
          failure = { error };
          throw error;
        }
      }, config);
    } catch (error) {
      isLost = isConnectionLost(error);
      throw failure ? failure.error : error;
    } finally {
      client.release(isLost);
    }
  };
  return db;
}
