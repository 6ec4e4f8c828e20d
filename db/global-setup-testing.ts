import { startTestPostgres, type TestPostgres } from "./postgres-testing.ts";

let server: TestPostgres | undefined;

/** Starts the one Postgres of a test run (`node --test --test-global-setup`), unless the engine is the embedded one. */
export async function globalSetup(): Promise<void> {
  if (!process.env.TEST_DATABASE || process.env.TEST_DATABASE === "pglite") return;
  if (process.env.TEST_POSTGRES_URL) return;
  server = await startTestPostgres();
  process.env.TEST_POSTGRES_URL = server.url;
}

/** Ends it. */
export async function globalTeardown(): Promise<void> {
  await server?.stop();
}
