import { Client } from "pg";
import { readParent } from "../process-stats.ts";

/**
 * The rows of a table to copy. `changes` contains SQL expressions for the columns whose values differ in the copies. In
 * these expressions, `n` is the number of the copy.
 */
type Copy = { table: string; where: string; changes: Record<string, string> };

/**
 * Creates `count` copies of a finished session. Each copy has a log of 100 events.
 *
 * @returns the ids of the first and the last copy.
 */
export async function fillDatabase(
  url: string,
  { sessionId, count }: { sessionId: string; count: number },
): Promise<string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const own = `session_id = '${sessionId}'`;
    const filled = "'ses_fill' || n";
    const copies: Copy[] = [
      {
        table: "sessions",
        where: `id = '${sessionId}'`,
        changes: {
          id: filled,
          event_seq: "100",
          created_at: "created_at - n * interval '1 second'",
          idempotency_key: "null",
        },
      },
      { table: "requests", where: own, changes: { id: "'req_fill' || n", session_id: filled } },
      {
        table: "runs",
        where: own,
        changes: { id: "'run_fill' || n", session_id: filled, request_id: "'req_fill' || n" },
      },
      {
        table: "messages",
        where: own,
        changes: {
          id: "id || n",
          session_id: filled,
          request_id: "'req_fill' || n",
          run_id: "case when run_id is null then null else 'run_fill' || n end",
        },
      },
    ];
    for (const copy of copies) await copyRows(client, copy, count);
    // A log begins with the event for the run's start and ends with the event for its end. In between, the other events
    // are repeated.
    const place = "case kind when 'run.started' then 1 when 'run.completed' then 100 else seq + 1 end";
    await client.query(`
      insert into events (session_id, seq, kind, request_id, run_id, body)
      select 'ses_fill' || n, ${place}, kind, 'req_fill' || n, 'run_fill' || n, body
      from generate_series(1, ${count}) as n, (
        select 0 as seq, kind, body from events where ${own} and kind in ('run.started', 'run.completed')
        union all
        (select (row_number() over ())::int, kind, body from (
          select kind, body from events where ${own} and kind not in ('run.started', 'run.completed')) as own_events,
          generate_series(1, 100) limit 98)
      ) as log`);
    await client.query("analyze");
    return ["ses_fill1", `ses_fill${count}`];
  } finally {
    await client.end();
  }
}

/** Reads the size of the database on disk, in bytes. */
export async function readDatabaseBytes(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("checkpoint");
    const { rows } = await client.query<{ bytes: string }>(
      "select pg_database_size(current_database()) as bytes",
    );
    return Number(rows[0]?.bytes);
  } finally {
    await client.end();
  }
}

async function copyRows(client: Client, { table, where, changes }: Copy, count: number): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "select column_name as name from information_schema.columns where table_name = $1 and table_schema = 'public' and is_generated = 'NEVER'",
    [table],
  );
  const names = rows.map(({ name }) => name);
  const values = names.map((name) => changes[name] ?? `"${name}"`);
  const columns = names.map((name) => `"${name}"`).join(", ");
  await client.query(
    `insert into "${table}" (${columns}) select ${values.join(", ")} from "${table}", generate_series(1, ${count}) as n where ${where}`,
  );
}

/** Reads the process id of the postmaster, and how many bytes have been written to the write-ahead log. */
export async function readServerCounters(url: string): Promise<{ postmasterPid: number; walBytes: number }> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number; bytes: string }>(
      "select pg_backend_pid() as pid, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as bytes",
    );
    return { postmasterPid: readParent(rows[0]?.pid ?? 0), walBytes: Number(rows[0]?.bytes) };
  } finally {
    await client.end();
  }
}
