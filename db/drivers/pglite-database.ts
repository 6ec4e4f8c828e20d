import type { PGlite } from "@electric-sql/pglite";
import { drizzle } from "drizzle-orm/pglite";
import { migrate } from "drizzle-orm/pglite/migrator";
import type { Database } from "../client.ts";
import { reportTo } from "../report-statements.ts";
import * as schema from "../schema/index.ts";
import { migrationsFolder } from "./migrations.ts";
import { createPgliteClient, type PgliteClient } from "./pglite-client.ts";
import type { PglitePort } from "./pglite-port.ts";

/** Makes the database of a PGlite: its tables brought up to date, and asked in as few messages as can be. */
export async function openPgliteDatabase(
  port: PglitePort,
  onStatement?: () => void,
): Promise<{ db: Database; client: PgliteClient }> {
  const client = createPgliteClient(port);
  // Drizzle uses no more of PGlite than the client has.
  const db = drizzle({ client: client as unknown as PGlite, schema, ...reportTo(onStatement) });
  await migrate(db, { migrationsFolder });
  return { db, client };
}
