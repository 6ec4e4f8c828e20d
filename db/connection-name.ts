import { randomBytes } from "node:crypto";

/** All connections of this service have names with this prefix. */
const NAME_PREFIX = "agent-session-service";

/**
 * Makes the name of one open database: a prefix, the current time in milliseconds and a random suffix. All connections of
 * the database have this name, so other processes can see in `pg_stat_activity` whether this process is connected.
 */
export const makeConnectionName = (): string =>
  `${NAME_PREFIX} ${Date.now()} ${randomBytes(4).toString("hex")}`;

/** Adds a connection name (`application_name`) to the URL of a database. */
export function nameConnections(url: string, name: string): string {
  const named = new URL(url);
  named.searchParams.set("application_name", name);
  return named.href;
}
