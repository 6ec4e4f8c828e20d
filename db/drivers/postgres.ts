import type { Client } from "pg";
import type { DatabaseOptions, OpenDatabase } from "../client.ts";
import { makeConnectionName, nameConnections } from "../connection-name.ts";
import { toDrizzleOptions } from "../report-statements.ts";
import * as schema from "../schema/index.ts";
import { findStatementName } from "../statement.ts";
import { createListen } from "./listen.ts";
import { migrationsFolder } from "./migrations.ts";
import { CONNECT_TIMEOUT_MS, migrateUnderLock } from "./server-client.ts";
import { withSafeTransactions } from "./with-safe-transactions.ts";

type PostgresOptions = Extract<DatabaseOptions, { driver: "pg" }>;

/**
 * Opens a Postgres server by its URL, over a pool of at most 16 connections.
 *
 * @throws DatabaseUnreachableError
 */
export async function openPostgres({ url, onError, onStatement }: PostgresOptions): Promise<OpenDatabase> {
  const [{ Client, Pool }, { drizzle }, { migrate }] = await Promise.all([
    import("pg"),
    import("drizzle-orm/node-postgres"),
    import("drizzle-orm/node-postgres/migrator"),
  ]);
  const name = makeConnectionName();
  const options = toDrizzleOptions(onStatement);
  const settings = {
    connectionString: nameConnections(url, name),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  };
  await migrateUnderLock(new Client(settings), (client) =>
    migrate(drizzle({ client }), { migrationsFolder }),
  );
  const pool = new Pool({ ...settings, max: 16 });
  // A lost connection emits `error`, which ends the process if nothing listens. The pool listens only while a connection is
  // idle, so each connection gets its own listener; the pool's own event would report the same error again.
  pool.on("connect", (client) => {
    client.on("error", onError);
    nameStatements(client);
  });
  pool.on("error", () => {});
  const listen = createListen(() => new Client({ ...settings, query_timeout: CONNECT_TIMEOUT_MS }));
  const db = withSafeTransactions(
    drizzle({ client: pool, schema, ...options }),
    () => pool.connect(),
    (client) => drizzle({ client, schema, ...options }),
  );
  return { db, driver: "pg", name, listen, close: () => pool.end() };
}

/**
 * Gives repeated statements a name, so that each connection plans them only once: planning some of them takes longer than
 * executing them. Drizzle cannot name a raw statement, and its `prepare` would have to be called for every query.
 */
function nameStatements(client: Pick<Client, "query">): void {
  const query = client.query.bind(client);
  const queryWithName = (config: unknown, ...rest: unknown[]) => {
    if (
      typeof config === "object" &&
      config !== null &&
      "text" in config &&
      !("name" in config && config.name)
    ) {
      const name = findStatementName(String(config.text));
      // Drizzle creates a new object for each execution, so changing it is safe.
      if (name !== undefined) Object.assign(config, { name });
    }
    return Reflect.apply(query, client, [config, ...rest]);
  };
  Object.assign(client, { query: queryWithName });
}
