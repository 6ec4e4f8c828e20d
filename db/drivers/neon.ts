import type { DatabaseOptions, OpenDatabase } from "../client.ts";
import { makeConnectionName, nameConnections } from "../connection-name.ts";
import { reportTo } from "../report-statements.ts";
import * as schema from "../schema/index.ts";
import { createListen } from "./listen.ts";
import { migrationsFolder } from "./migrations.ts";
import { CONNECT_TIMEOUT_MS, migrateAlone, type ServerClient, toDirectUrl } from "./server-client.ts";
import { withSafeTransactions } from "./with-safe-transactions.ts";

type NeonOptions = Extract<DatabaseOptions, { driver: "neon" }>;

/**
 * Opens Neon over WebSockets (its HTTP driver has no transactions).
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
  const report = reportTo(onStatement);
  const pooled = {
    connectionString: nameConnections(url, name),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  };
  const direct = { ...pooled, connectionString: toDirectUrl(pooled.connectionString) };
  await migrateAlone(new Client(direct), (client) => migrate(drizzle({ client }), { migrationsFolder }));
  const pool = new Pool({ ...pooled, max: 16 });
  // A connection that is lost tells its listeners, or ends the process: the pool's own while it is idle, this one in use.
  pool.on("connect", (client: ServerClient) => client.on("error", onError));
  pool.on("error", () => {});
  const listen = createListen(() => new Client({ ...direct, query_timeout: CONNECT_TIMEOUT_MS }));
  const db = withSafeTransactions(
    drizzle({ client: pool, schema, ...report }),
    () => pool.connect(),
    (client) => drizzle({ client, schema, ...report }),
  );
  return { db, driver: "neon", name, listen, close: () => pool.end() };
}
