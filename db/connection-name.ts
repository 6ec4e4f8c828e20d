import { randomBytes } from "node:crypto";

/** The names of all connections of the service begin with this prefix. */
const NAME_PREFIX = "agent-session-service";

/**
 * Creates a name for the connections of one process: a prefix, the current time in milliseconds and a random suffix. By
 * this name, other processes see in `pg_stat_activity` whether the process is connected.
 */
export const makeConnectionName = (): string =>
  `${NAME_PREFIX} ${Date.now()} ${randomBytes(4).toString("hex")}`;

/** Adds a connection name (`application_name`) to the URL of a database. */
export function nameConnections(url: string, name: string): string {
  const named = new URL(url);
  named.searchParams.set("application_name", name);
  return named.href;
}
