import type { OpenDatabase } from "../client.ts";
import * as schema from "../schema/index.ts";
import { migrationsFolder } from "./migrations.ts";

/** Opens a Postgres server by its URL, over a pool of at most 16 connections. */
export async function openPostgres(url: string, onError: (error: Error) => void): Promise<OpenDatabase> {
  const [{ Pool }, { drizzle }, { migrate }] = await Promise.all([
    import("pg"),
    import("drizzle-orm/node-postgres"),
    import("drizzle-orm/node-postgres/migrator"),
  ]);
  const pool = new Pool({ connectionString: url, max: 16, connectionTimeoutMillis: 10_000 });
  // Without a listener, a server that goes away ends the process.
  pool.on("error", onError);
  const db = drizzle({ client: pool, schema });
  await migrate(db, { migrationsFolder });
  return { db, driver: "pg", close: () => pool.end() };
}
