import { randomBytes } from "node:crypto";
import { type SQL, type SQLWrapper, sql } from "drizzle-orm";

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

/** How long processes may take to reconnect after a restart of the database server, which ends all connections. */
const RETURN_SECONDS = 15;

/**
 * SQL condition: the process whose connections have this name has ended. A process counts as ended if no database
 * connection has its name. Exception: for `RETURN_SECONDS` after a restart of the database server, a process that
 * connected before the restart does not count as ended.
 */
export function hasEnded(name: SQLWrapper): SQL {
  const isConnected = sql`exists (select 1 from pg_stat_activity process
    where process.datname = current_database() and process.application_name = ${name})`;
  const openedAt = sql`to_timestamp(substring(${name} from ' ([0-9]+) ')::float8 / 1000)`;
  const mayReturn = sql`coalesce(${openedAt} < pg_postmaster_start_time(), false)
    and now() < pg_postmaster_start_time() + ${RETURN_SECONDS} * interval '1 second'`;
  return sql`(not ${isConnected} and not (${mayReturn}))`;
}

/** The name of this process among the processes that share the database. `isAlone` is true if there are no others. */
export type ProcessOwner = { name: string; isAlone: boolean };

/** SQL condition: the process in `owner` has ended. If this process is alone, every other process has ended. */
export function hasOwnerEnded(self: ProcessOwner, owner: SQLWrapper): SQL {
  const isOther = sql`${owner} is distinct from ${self.name}`;
  return self.isAlone ? isOther : sql`(${isOther} and ${hasEnded(owner)})`;
}
