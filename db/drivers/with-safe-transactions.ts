import type { Database } from "../client.ts";
import { isConnectionLost } from "../unavailability.ts";

type PooledClient = { release: (destroy?: boolean) => void };

/**
 * Lets transactions survive the loss of their connection. Drizzle's own never give a connection back on which `begin`
 * failed, so that a few restarts of the server use up the pool; and they tell that `rollback` failed, not why.
 *
 * @param wrap makes the database of one connection.
 */
export function withSafeTransactions<Client extends PooledClient>(
  db: Database,
  connect: () => Promise<Client>,
  wrap: (client: Client) => Database,
): Database {
  const wrapped = new WeakMap<Client, Database>();
  const obtain = (client: Client) => {
    const known = wrapped.get(client);
    if (known) return known;
    const made = wrap(client);
    wrapped.set(client, made);
    return made;
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
