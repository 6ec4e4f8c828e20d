import type { OpenDatabase } from "../client.ts";
import * as schema from "../schema/index.ts";
import { migrationsFolder } from "./migrations.ts";

/**
 * Opens Neon over WebSockets (its HTTP driver has no transactions).
 *
 * @param wsProxy host and path of a WebSocket-to-TCP proxy in front of a plain Postgres, for tests (`NEON_WSPROXY`).
 */
export async function openNeon(
  url: string,
  wsProxy: string | undefined,
  onError: (error: Error) => void,
): Promise<OpenDatabase> {
  const [{ Pool, neonConfig }, { drizzle }, { migrate }, { WebSocket }] = await Promise.all([
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
  const pool = new Pool({ connectionString: url, max: 16 });
  pool.on("error", onError);
  const db = drizzle({ client: pool, schema });
  await migrate(db, { migrationsFolder });
  return { db, driver: "neon", close: () => pool.end() };
}
