import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core";
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
