import { createHash, randomUUID } from "node:crypto";
import { PGlite } from "@electric-sql/pglite";
import { sql } from "drizzle-orm";
import { Client } from "pg";
import { type DatabaseOptions, type OpenDatabase, openDatabase } from "./client.ts";
import { makeConnectionName } from "./connection-name.ts";
import { openPgliteDatabase } from "./drivers/pglite-database.ts";
import { createLocalPort } from "./drivers/pglite-port.ts";
import { startNeonProxy } from "./neon-proxy-testing.ts";
import { startTestPostgres } from "./postgres-testing.ts";

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

/** The engine that `TEST_DATABASE` names. */
function readDriver(): "pglite" | "pg" | "neon" {
  const driver = process.env.TEST_DATABASE || "pglite";
  if (driver === "pglite" || driver === "pg" || driver === "neon") return driver;
  throw new Error(`TEST_DATABASE=${driver}: is one of pglite, pg, neon`);
}

/**
 * A fresh database with the migrations applied, for one test file, on the engine that `TEST_DATABASE` names: an
 * in-memory PGlite (the default), or the server of `TEST_POSTGRES_URL` over `pg` or Neon's driver.
 */
export async function openTestDatabase(): Promise<TestDatabase> {
  const driver = readDriver();
  if (driver === "pglite") return openInMemory();
  const { DATABASE_URL: url = "", NEON_WSPROXY: wsProxy } = await prepareTestDatabase(randomUUID());
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

async function openInMemory(): Promise<TestDatabase> {
  // Without a thread of its own, which takes a while to start.
  const { db, client } = await openPgliteDatabase(createLocalPort(await PGlite.create()));
  return { db, driver: "pglite", name: makeConnectionName(), client, close: () => client.close() };
}

let server: Promise<string> | undefined;
let proxy: Promise<string> | undefined;

/**
 * The settings that give a service under test the engine of `TEST_DATABASE`.
 *
 * @param key names the database: the same one gets the same, so that a service can go on with an earlier one's.
 */
export async function prepareTestDatabase(key: string): Promise<TestDatabaseVariables> {
  const driver = readDriver();
  if (driver === "pglite") return {};
  server ??= obtainServer();
  const url = await createDatabase(
    await server,
    `test_${createHash("sha256").update(key).digest("hex").slice(0, 24)}`,
  );
  if (driver === "pg") return { DATABASE_URL: url, DATABASE_DRIVER: "pg" };
  proxy ??= startProxy(url);
  return { DATABASE_URL: url, DATABASE_DRIVER: "neon", NEON_WSPROXY: await proxy };
}

/** One server for all test files where `TEST_POSTGRES_URL` names it, or one of this file's own. */
async function obtainServer(): Promise<string> {
  return process.env.TEST_POSTGRES_URL || (await startTestPostgres()).url;
}

async function startProxy(url: string): Promise<string> {
  return (await startNeonProxy(url)).wsProxy;
}

/** Makes a database on a server unless it is there. @returns its URL. */
export async function createDatabase(serverUrl: string, name: string): Promise<string> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(`create database "${name}"`).catch((error) => {
      if (error.code !== "42P04") throw error;
    });
  } finally {
    await client.end();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
