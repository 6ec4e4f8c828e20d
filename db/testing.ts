import { createHash, randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { type DatabaseOptions, type OpenDatabase, openDatabase } from "./client.ts";
import { startNeonProxy } from "./neon-proxy-testing.ts";
import { createDatabase, startTestPostgres } from "./postgres-testing.ts";
import type { sessions } from "./schema/index.ts";

export { createDatabase };

/** A database of a test file's own. */
export type TestDatabase = OpenDatabase & {
  client: { query: <Row>(text: string) => Promise<{ rows: Row[] }> };
};

/** Settings of a service under test; empty for the embedded database. */
export type TestDatabaseVariables = {
  DATABASE_URL?: string;
  DATABASE_DRIVER?: "pg" | "neon";
  NEON_WSPROXY?: string;
};

/** The row of a session for tests that need one, with whatever fields the test sets. */
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

/** The driver that `TEST_DATABASE` names. */
function readDriver(fallback: TestDriver = "pg"): TestDriver {
  const driver = process.env.TEST_DATABASE || fallback;
  if (driver === "embedded" || driver === "pg" || driver === "neon") return driver;
  throw new Error(`TEST_DATABASE=${driver}: must be embedded, pg or neon`);
}

/**
 * A fresh database with all tables, for one test file: a copy of the template on the server of `TEST_POSTGRES_URL`, over
 * `pg` or, where `TEST_DATABASE` says so, over Neon's driver.
 */
export async function openTestDatabase(): Promise<TestDatabase> {
  const driver = readDriver() === "neon" ? "neon" : "pg";
  const { DATABASE_URL: url = "", NEON_WSPROXY: wsProxy } = await prepareServerDatabase(randomUUID(), driver);
  return openTestPostgres({ driver, url, ...(wsProxy !== undefined && { wsProxy }) });
}

/** Opens a database of a Postgres that a test has started. */
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
 * The settings that give a service under test the database of `TEST_DATABASE`: a server's, or, for `embedded`, the
 * service's own in its data folder.
 *
 * @param key names the database: the same key gets the same one, so that a service can go on with an earlier one's.
 * @param fallback is used where `TEST_DATABASE` is not set.
 */
export async function prepareTestDatabase(
  key: string,
  fallback?: TestDriver,
): Promise<TestDatabaseVariables> {
  const driver = readDriver(fallback);
  return driver === "embedded" ? {} : prepareServerDatabase(key, driver);
}

async function prepareServerDatabase(key: string, driver: "pg" | "neon"): Promise<TestDatabaseVariables> {
  server ??= obtainServer();
  const url = await createDatabase(
    await server,
    `test_${createHash("sha256").update(key).digest("hex").slice(0, 24)}`,
  );
  if (driver === "pg") return { DATABASE_URL: url, DATABASE_DRIVER: "pg" };
  proxy ??= startProxy(url);
  return { DATABASE_URL: url, DATABASE_DRIVER: "neon", NEON_WSPROXY: await proxy };
}

/** The server that all test files share, or one of this file's own when it is run by itself. */
async function obtainServer(): Promise<string> {
  return process.env.TEST_POSTGRES_URL || (await startTestPostgres()).url;
}

async function startProxy(url: string): Promise<string> {
  return (await startNeonProxy(url)).wsProxy;
}
