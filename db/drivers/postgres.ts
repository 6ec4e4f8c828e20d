import type { Client } from "pg";
import type { OpenDatabase } from "../client.ts";
import { makeConnectionName, nameConnections } from "../connection-name.ts";
import { toDrizzleOptions } from "../report-statements.ts";
import * as schema from "../schema/index.ts";
import { findStatementName } from "../statement.ts";
import { createListen } from "./listen.ts";
import { migrationsFolder } from "./migrations.ts";
import { CONNECT_TIMEOUT_MS, migrateUnderLock } from "./server-client.ts";
import { withSafeTransactions } from "./with-safe-transactions.ts";

export type PostgresOptions = {
  url: string;
  /** Called each time a connection is lost. */
  onError: (error: Error) => void;
  /** Called before each statement is sent; a throw fails that statement. */
  onStatement?: (() => void) | undefined;
};

/**
 * Opens a database of a Postgres server, with a pool of at most 16 connections.
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
  // A lost connection emits `error`, which ends the process if nothing listens. Each connection gets its own listener,
  // because the pool listens only while the connection is idle. If an idle connection is lost, the pool emits the same
  // error too, and this second event is ignored.
  pool.on("connect", (client) => {
    client.on("error", (error) => {
      // A pool that closes does not wait for the ends of its connections, which the server may cut meanwhile.
      if (!pool.ending) onError(error);
    });
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
 * Gives repeated statements a name, so that each connection plans them only once. Planning some of them takes longer
 * than executing them. Drizzle itself cannot name a raw statement, and it names any other statement only if the code
 * calls `prepare` for it. The names are therefore added when the client sends a statement.
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
      // It is safe to change `config`, because Drizzle creates a new object for each execution.
      if (name !== undefined) Object.assign(config, { name });
    }
    return Reflect.apply(query, client, [config, ...rest]);
  };
  Object.assign(client, { query: queryWithName });
}
