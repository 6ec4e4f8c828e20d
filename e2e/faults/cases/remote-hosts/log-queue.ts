import { Client } from "pg";
import type { QueueChange } from "./find-overtakings.ts";

/** Follows how the status of browsers and the queue for places change in the database of a service. */
export type QueueLog = {
  /** Reads all changes until now, in order. */
  read: () => Promise<QueueChange[]>;
  close: () => Promise<void>;
};

/** Creates a table in the database of a running service, and a trigger that writes each change of a browser to it. */
export async function logQueue(databaseUrl: string): Promise<QueueLog> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`
    create table queue_log (
      id bigserial primary key, at timestamptz not null default clock_timestamp(), session_id text not null,
      old_status text, status text not null, old_host text, host text, old_since timestamptz, since timestamptz
    );
    create function log_queue() returns trigger language plpgsql as $$ begin
      insert into queue_log (session_id, old_status, status, old_host, host, old_since, since)
        values (new.session_id, old.status, new.status, old.host_id, new.host_id, old.waiting_since, new.waiting_since);
      return null;
    end $$;
    create trigger log_queue after insert or update on browsers for each row execute function log_queue();`);
  const ms = (column: string) => `extract(epoch from ${column})::float8 * 1000`;
  return {
    async read() {
      const { rows } = await client.query<QueueChange>(`
        select session_id as "sessionId", ${ms("at")} as "atMs", old_status as "oldStatus", status,
          old_host as "oldHost", host, ${ms("old_since")} as "oldSinceMs", ${ms("since")} as "sinceMs"
        from queue_log order by id`);
      return rows;
    },
    close: () => client.end(),
  };
}
