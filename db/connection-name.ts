import { randomBytes } from "node:crypto";

/** How every connection of this service begins its name. */
export const CONNECTION_NAME = "agent-session-service";

/**
 * Names all connections of one opening of the database, so that processes can tell each other's apart in
 * `pg_stat_activity`: the service's name, the time of the opening in milliseconds, and a few letters.
 */
export function nameConnections(url: string): string {
  const named = new URL(url);
  const name = `${CONNECTION_NAME} ${Date.now()} ${randomBytes(4).toString("hex")}`;
  named.searchParams.set("application_name", name);
  return named.href;
}
