import type { Client } from "pg";
import type { DatabaseOptions, OpenDatabase } from "../client.ts";
import { makeConnectionName, nameConnections } from "../connection-name.ts";
import { reportTo } from "../report-statements.ts";
import * as schema from "../schema/index.ts";
import { findStatementName } from "../statement.ts";
import { createListen } from "./listen.ts";
import { migrationsFolder } from "./migrations.ts";
import { CONNECT_TIMEOUT_MS, migrateAlone } from "./server-client.ts";
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
  const report = reportTo(onStatement);
  const settings = {
    connectionString: nameConnections(url, name),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  };
  await migrateAlone(new Client(settings), (client) => migrate(drizzle({ client }), { migrationsFolder }));
  const pool = new Pool({ ...settings, max: 16 });
  // A connection that is lost tells its listeners, or ends the process: the pool's own while it is idle, this one in use.
  pool.on("connect", (client) => {
    client.on("error", onError);
    nameStatements(client);
  });
  pool.on("error", () => {});
  const listen = createListen(() => new Client({ ...settings, query_timeout: CONNECT_TIMEOUT_MS }));
  const db = withSafeTransactions(
    drizzle({ client: pool, schema, ...report }),
    () => pool.connect(),
    (client) => drizzle({ client, schema, ...report }),
  );
  return { db, driver: "pg", name, listen, close: () => pool.end() };
}

/**
 * Names repeated statements, so that each connection plans them once: planning some of them takes longer than executing
 * them. Drizzle cannot name a statement that is executed raw, and `prepare` would have to be called for every query.
 */
function nameStatements(client: Pick<Client, "query">): void {
  const query = client.query.bind(client);
  const named = (config: unknown, ...rest: unknown[]) => {
    if (
      typeof config === "object" &&
      config !== null &&
      "text" in config &&
      !("name" in config && config.name)
    ) {
      const name = findStatementName(String(config.text));
      // Drizzle makes a configuration for each execution.
      if (name !== undefined) Object.assign(config, { name });
    }
    return Reflect.apply(query, client, [config, ...rest]);
  };
  Object.assign(client, { query: named });
}
