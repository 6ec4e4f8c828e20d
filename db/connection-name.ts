import { randomBytes } from "node:crypto";

/** How every connection of this service begins its name. */
const CONNECTION_NAME = "agent-session-service";

/**
 * A name for one opening of the database: the service's, the time of the opening in milliseconds, and a few letters.
 * All its connections carry it, so that other processes can tell in `pg_stat_activity` whether this one is there.
 */
export const makeConnectionName = (): string =>
  `${CONNECTION_NAME} ${Date.now()} ${randomBytes(4).toString("hex")}`;

/** The URL of a database under which connections carry a name. */
export function nameConnections(url: string, name: string): string {
  const named = new URL(url);
  named.searchParams.set("application_name", name);
  return named.href;
}
