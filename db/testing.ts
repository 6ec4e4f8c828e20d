import { createHash, randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import type { OpenDatabase } from "./client.ts";
import { startNeonProxy } from "./neon-proxy-testing.ts";
import { type DatabaseOptions, openDatabase } from "./open-database.ts";
import { createDatabase, startTestPostgres } from "./postgres-testing.ts";
import type { sessions } from "./schema/index.ts";

export { createDatabase };

/** A database that only one test file uses. */
export type TestDatabase = OpenDatabase & {
  client: { query: <Row>(text: string) => Promise<{ rows: Row[] }> };
};

/** Environment variables with which a service under test opens its database; empty for the embedded database. */
export type TestDatabaseVariables = {
  DATABASE_URL?: string;
  DATABASE_DRIVER?: "pg" | "neon";
  NEON_WSPROXY?: string;
};

/** Creates a row of `sessions` with default values for tests. `fields` overrides the defaults. */
export const sessionRow = (
  fields: Pick<typeof sessions.$inferInsert, "id"> & Partial<typeof sessions.$inferInsert>,
): typeof sessions.$inferInsert => ({
  ownerId: "owner",
  title: "a session",
  source: "api",
  bodyHash: "hash",
  targetPageUrls: [],
  tools: { include: [], exclude: [], externalTurnExclude: [] },
  toolset: [],
  mcpServers: {},
  capabilities: { browser: true, sandbox: true },
  subAgents: false,
  maxLiveChildren: 4,
  maxLiveBrowsers: 4,
  ...fields,
});

type TestDriver = "embedded" | "pg" | "neon";

/** Returns the driver that `TEST_DATABASE` names; `fallback` if the variable is not set. */
function readDriver(fallback: TestDriver = "pg"): TestDriver {
  const driver = process.env.TEST_DATABASE || fallback;
  if (driver === "embedded" || driver === "pg" || driver === "neon") return driver;
  throw new Error(`TEST_DATABASE=${driver}: must be embedded, pg or neon`);
}

/**
 * Opens a new database with all tables for one test file: a copy of the template on the server of `TEST_POSTGRES_URL`.
 * The driver is `pg`, or Neon's if `TEST_DATABASE` is `neon`.
 */
export async function openTestDatabase(): Promise<TestDatabase> {
  const driver = readDriver() === "neon" ? "neon" : "pg";
  const { DATABASE_URL: url = "", NEON_WSPROXY: wsProxy } = await prepareServerDatabase(randomUUID(), driver);
  return openTestPostgres({ driver, url, ...(wsProxy !== undefined && { wsProxy }) });
}

/** Opens a database on a server that a test has started. */
export async function openTestPostgres(
  options: { driver: "pg" | "neon"; url: string; wsProxy?: string },
  onError: (error: Error) => void = () => {},
): Promise<TestDatabase> {
  const database = await openDatabase({ ...options, onError } as DatabaseOptions);
  return {
    ...database,
    client: {
      query: async <Row>(text: string) =>
        (await database.db.execute(sql.raw(text))) as unknown as { rows: Row[] },
    },
  };
}

let server: Promise<string> | undefined;
let proxy: Promise<string> | undefined;

/**
 * Returns the settings with which a service under test opens the database that `TEST_DATABASE` selects: a database on
 * the test server or, for `embedded`, the database in the service's own data folder.
 *
 * @param key identifies the database: the same key returns the same database, so that a test can restart its service.
 * @param fallback the driver if `TEST_DATABASE` is not set.
 */
export async function prepareTestDatabase(
  key: string,
  fallback?: TestDriver,
): Promise<TestDatabaseVariables> {
  const driver = readDriver(fallback);
  return driver === "embedded" ? {} : prepareServerDatabase(key, driver);
}

async function prepareServerDatabase(key: string, driver: "pg" | "neon"): Promise<TestDatabaseVariables> {
  server ??= findServer();
  const url = await createDatabase(
    await server,
    `test_${createHash("sha256").update(key).digest("hex").slice(0, 24)}`,
  );
  if (driver === "pg") return { DATABASE_URL: url, DATABASE_DRIVER: "pg" };
  proxy ??= startProxy(url);
  return { DATABASE_URL: url, DATABASE_DRIVER: "neon", NEON_WSPROXY: await proxy };
}

/** Returns the URL of the server that all test files share, or starts one if the test file runs alone. */
async function findServer(): Promise<string> {
  return process.env.TEST_POSTGRES_URL || (await startTestPostgres()).url;
}

async function startProxy(url: string): Promise<string> {
  return (await startNeonProxy(url)).wsProxy;
}
