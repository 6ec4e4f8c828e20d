import type { OpenDatabase } from "../client.ts";
import { makeConnectionName, nameConnections } from "../connection-name.ts";
import { toDrizzleOptions } from "../report-statements.ts";
import * as schema from "../schema/index.ts";
import { createListen } from "./listen.ts";
import { migrationsFolder } from "./migrations.ts";
import type { PostgresOptions } from "./postgres.ts";
import { CONNECT_TIMEOUT_MS, migrateUnderLock, type ServerClient, toDirectUrl } from "./server-client.ts";
import { withSafeTransactions } from "./with-safe-transactions.ts";

export type NeonOptions = PostgresOptions & {
  /** Host and path of a WebSocket-to-TCP proxy in front of a plain Postgres, for tests (`NEON_WSPROXY`). */
  wsProxy?: string;
};

/**
 * Opens a Neon database over WebSockets, because Neon's HTTP driver has no interactive transactions.
 *
 * @throws DatabaseUnreachableError
 */
export async function openNeon({ url, wsProxy, onError, onStatement }: NeonOptions): Promise<OpenDatabase> {
  const [{ Client, Pool, neonConfig }, { drizzle }, { migrate }, { WebSocket }] = await Promise.all([
    import("@neondatabase/serverless"),
    import("drizzle-orm/neon-serverless"),
    import("drizzle-orm/neon-serverless/migrator"),
    import("ws"),
  ]);
  neonConfig.webSocketConstructor = WebSocket;
  if (wsProxy) {
    neonConfig.wsProxy = wsProxy;
    neonConfig.useSecureWebSocket = false;
    neonConfig.pipelineConnect = false;
  }
  const name = makeConnectionName();
  const options = toDrizzleOptions(onStatement);
  const pooled = {
    connectionString: nameConnections(url, name),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  };
  const direct = { ...pooled, connectionString: toDirectUrl(pooled.connectionString) };
  await migrateUnderLock(new Client(direct), (client) => migrate(drizzle({ client }), { migrationsFolder }));
  const pool = new Pool({ ...pooled, max: 16 });
  // A lost connection emits `error`, which ends the process if nothing listens. Each connection gets its own listener,
  // because the pool listens only while the connection is idle. If an idle connection is lost, the pool emits the same
  // error too, and this second event is ignored.
  pool.on("connect", (client: ServerClient) => client.on("error", onError));
  pool.on("error", () => {});
  const listen = createListen(() => new Client({ ...direct, query_timeout: CONNECT_TIMEOUT_MS }));
  const db = withSafeTransactions(
    drizzle({ client: pool, schema, ...options }),
    () => pool.connect(),
    (client) => drizzle({ client, schema, ...options }),
  );
  return { db, driver: "neon", name, listen, close: () => pool.end() };
}
