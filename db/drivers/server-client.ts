/** The methods that the clients of `pg` and of Neon have in common. */
export type ServerClient = {
  connect: () => Promise<unknown>;
  query: (text: string, values?: unknown[]) => Promise<unknown>;
  end: () => Promise<void>;
  on: {
    (event: "error", listener: (error: Error) => void): unknown;
    (event: "end", listener: () => void): unknown;
    (event: "notification", listener: (message: { payload?: string | undefined }) => void): unknown;
  };
};

/** Timeout in milliseconds for opening a connection, and for each statement on a connection for notifications. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** Thrown if the database server does not accept a connection. */
export class DatabaseUnreachableError extends Error {
  constructor(cause: unknown) {
    const reason =
      cause instanceof Error ? cause.message || String(cause.cause ?? cause.name) : String(cause);
    super(`the database cannot be reached (DATABASE_URL): ${reason}`, { cause });
    this.name = "DatabaseUnreachableError";
  }
}

/** Connects a client to its server. @throws DatabaseUnreachableError when the server does not accept the connection. */
export async function connect(client: ServerClient): Promise<void> {
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(() => {});
    throw new DatabaseUnreachableError(error);
  }
}

/**
 * Returns a URL that bypasses Neon's connection pooler. Migrations and LISTEN need it, because the pooler shares one
 * session between several clients. Returns the URL of any other server unchanged.
 */
export function toDirectUrl(url: string): string {
  const direct = new URL(url);
  if (direct.hostname.endsWith(".neon.tech")) direct.hostname = direct.hostname.replace("-pooler.", ".");
  return direct.href;
}

/**
 * Applies the migrations on a separate connection, under an advisory lock. If several processes start at the same time,
 * one of them migrates while the others wait.
 *
 * @throws DatabaseUnreachableError
 */
export async function migrateUnderLock<Client extends ServerClient>(
  client: Client,
  migrate: (client: Client) => Promise<void>,
): Promise<void> {
  client.on("error", () => {});
  await connect(client);
  try {
    // The number is arbitrary, but all versions of the service must use the same number. Ending the session releases
    // the lock.
    await client.query("select pg_advisory_lock(7318643)");
    await migrate(client);
  } finally {
    await client.end().catch(() => {});
  }
}
