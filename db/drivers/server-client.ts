/** What the clients of `pg` and of Neon have in common. */
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

/** Time to connect, and to answer a statement of a connection outside the pool, in milliseconds. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** The database server does not take a connection. */
export class DatabaseUnreachableError extends Error {
  constructor(cause: unknown) {
    const reason =
      cause instanceof Error ? cause.message || String(cause.cause ?? cause.name) : String(cause);
    super(`the database cannot be reached (DATABASE_URL): ${reason}`, { cause });
    this.name = "DatabaseUnreachableError";
  }
}

/** @throws DatabaseUnreachableError */
export async function connect(client: ServerClient): Promise<void> {
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(() => {});
    throw new DatabaseUnreachableError(error);
  }
}

/** Neon's pooled hosts share sessions between clients; what needs a session of its own asks the host itself. */
export function toDirectUrl(url: string): string {
  const direct = new URL(url);
  if (direct.hostname.endsWith(".neon.tech")) direct.hostname = direct.hostname.replace("-pooler.", ".");
  return direct.href;
}

/**
 * Brings the tables up to date on a connection of its own, while other processes that start at the same time wait.
 *
 * @throws DatabaseUnreachableError
 */
export async function migrateAlone<Client extends ServerClient>(
  client: Client,
  migrate: (client: Client) => Promise<void>,
): Promise<void> {
  client.on("error", () => {});
  await connect(client);
  try {
    // Any number will do, so long as all versions of the service take the same one. It is let go with the session.
    await client.query("select pg_advisory_lock(7318643)");
    await migrate(client);
  } finally {
    await client.end().catch(() => {});
  }
}
