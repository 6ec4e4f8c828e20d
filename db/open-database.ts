import type { DatabaseDriver, OpenDatabase } from "./client.ts";
import { type NeonOptions, openNeon } from "./drivers/neon.ts";
import { openPostgres, type PostgresOptions } from "./drivers/postgres.ts";
import type { EmbeddedOptions } from "./embedded/open-embedded.ts";

export type DatabaseOptions =
  | ({ driver: "embedded" } & EmbeddedOptions)
  | ({ driver: "pg" } & PostgresOptions)
  | ({ driver: "neon" } & NeonOptions);

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
