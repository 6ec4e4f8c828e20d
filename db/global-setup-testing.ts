import { startTestPostgres, type TestPostgres } from "./postgres-testing.ts";

let server: TestPostgres | undefined;

/**
 * Starts the Postgres server that all test files of a run share (`node --test --test-global-setup`). If
 * `TEST_POSTGRES_URL` already names a server, no server is started.
 */
export async function globalSetup(): Promise<void> {
  if (process.env.TEST_POSTGRES_URL) return;
  server = await startTestPostgres();
  process.env.TEST_POSTGRES_URL = server.url;
}

/** Stops the Postgres that {@link globalSetup} has started. */
export async function globalTeardown(): Promise<void> {
  await server?.stop();
}
