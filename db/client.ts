import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core";
import { openNeon } from "./drivers/neon.ts";
import { openPostgres } from "./drivers/postgres.ts";
import type { EmbeddedOptions } from "./embedded/open-embedded.ts";
import type { Listen } from "./notifications.ts";
import type * as schema from "./schema/index.ts";

/** A Drizzle database on any of the drivers. */
export type Database = PgDatabase<PgQueryResultHKT, typeof schema>;

/**
 * A transaction of {@link Database}. Code inside a transaction must execute its statements on this handle. A statement
 * on the database itself may wait for the transaction to end, while the transaction waits for the statement.
 */
export type Transaction = Parameters<Parameters<Database["transaction"]>[0]>[0];

/** A database or a transaction, for functions that execute a single statement. */
export type Executor = Database | Transaction;

export type DatabaseDriver = "embedded" | "pg" | "neon";

export type DatabaseOptions = (
  | ({ driver: "embedded" } & EmbeddedOptions)
  | { driver: "pg"; url: string; onError: (error: Error) => void }
  | {
      driver: "neon";
      url: string;
      /** Host and path of a WebSocket-to-TCP proxy in front of a plain Postgres, for tests (`NEON_WSPROXY`). */
      wsProxy?: string;
      onError: (error: Error) => void;
    }
) & {
  /** Called before each statement is sent; a throw fails that statement. */
  onStatement?: (() => void) | undefined;
};

/** An open database with its migrations applied. */
export type OpenDatabase = {
  db: Database;
  driver: DatabaseDriver;
  /** The `application_name` of this process's connections. No other process on the database has the same name. */
  name: string;
  /** Notifications between processes. Absent on the embedded database, because only one process uses it. */
  listen?: Listen;
  close: () => Promise<void>;
};

/**
 * Picks the driver: `override` if it is given, `embedded` without a URL, otherwise by the host of the URL. Source:
 * `configuration.md`, Variables, `DATABASE_URL`.
 */
export function chooseDriver(url: string | undefined, override?: DatabaseDriver): DatabaseDriver {
  if (override) return override;
  if (!url) return "embedded";
  return new URL(url).hostname.endsWith(".neon.tech") ? "neon" : "pg";
}

/**
 * Opens the database and applies the pending migrations.
 *
 * @throws DatabaseLockedError when another live process owns the embedded database.
 * @throws DataFolderError when the folder of the embedded database cannot be used.
 * @throws PostgresMissingError when no suitable Postgres for the embedded database is installed.
 * @throws DatabaseUnreachableError when the server cannot be reached.
 */
export async function openDatabase(options: DatabaseOptions): Promise<OpenDatabase> {
  switch (options.driver) {
    case "embedded":
      // Imported only here, because a deployment with a database server does not include the embedded Postgres.
      return (await import("./embedded/open-embedded.ts")).openEmbedded(options);
    case "pg":
      return openPostgres(options);
    case "neon":
      return openNeon(options);
  }
}
