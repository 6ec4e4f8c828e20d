import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { startTestPostgres } from "#db/postgres-testing.ts";
import { createDatabase } from "#db/testing.ts";

/** Creates and drops databases on a server. Each run of a case gets a new database. */
export type Databases = {
  create: () => Promise<string>;
  drop: (url: string) => Promise<void>;
};

/**
 * A database server. `restart` crashes the server and starts it again. Only a server that the campaign has started has
 * `restart`.
 */
type DatabaseServer = {
  databases: Databases;
  restart?: (() => Promise<void>) | undefined;
  stop: () => Promise<void>;
};

/**
 * Connects to the server that `--database` names, or starts one.
 *
 * @returns undefined for the embedded database, which each service starts itself.
 */
export async function openDatabases(database: string): Promise<DatabaseServer | undefined> {
  if (database === "embedded") return undefined;
  const own = database === "postgres" ? await startTestPostgres() : undefined;
  return {
    databases: createDatabases(own?.url ?? database),
    restart: own && (() => own.restart("immediate")),
    stop: async () => own?.stop(),
  };
}

const createDatabases = (serverUrl: string): Databases => ({
  create: () => createDatabase(serverUrl, `faults_${randomUUID().replaceAll("-", "")}`),
  async drop(url) {
    const client = new Client({ connectionString: serverUrl });
    await client.connect();
    await client.query(`drop database if exists "${new URL(url).pathname.slice(1)}" with (force)`);
    await client.end();
  },
});
