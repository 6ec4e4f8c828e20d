import { sql } from "drizzle-orm";
import type { Executor } from "#db/client.ts";
import { evidence, imports, recordedPictures, runs, sessions } from "#db/schema/index.ts";
import { queryRows } from "#db/statement.ts";
import { OPEN } from "./run-store.ts";

/** Number of an owner's sessions, and how many of them have an open turn. Sub-agents do not count. */
export type SessionCounts = { stored: number; open: number };

/** Counts an owner's sessions, and the sessions with an open turn. */
export async function countSessions(db: Executor, ownerId: string): Promise<SessionCounts> {
  const [row] = await queryRows<SessionCounts>(
    db,
    sql`select
      (select count(*) from ${sessions} s where s.owner_id = ${ownerId} and s.parent_session_id is null)::int as stored,
      (select count(distinct s.id) from ${runs} r join ${sessions} s on s.id = r.session_id
        where r.state in ${OPEN} and s.owner_id = ${ownerId} and s.parent_session_id is null)::int as open`,
  );
  return { stored: row?.stored ?? 0, open: row?.open ?? 0 };
}

/**
 * Sums the stored bytes of an owner's sessions and sub-agents: workspaces, annotations, evidence, recordings and imports.
 */
export async function sumStoredBytes(db: Executor, ownerId: string): Promise<number> {
  const [row] = await queryRows<{ bytes: number }>(
    db,
    sql`with own as (select id, workspace_bytes + annotation_bytes as bytes from ${sessions} where owner_id = ${ownerId})
      select ((select coalesce(sum(bytes), 0) from own)
        + (select coalesce(sum(e.size_bytes), 0) from ${evidence} e join own on own.id = e.session_id)
        + (select coalesce(sum(p.size_bytes), 0) from ${recordedPictures} p join own on own.id = p.session_id)
        + (select coalesce(sum(i.size_bytes), 0) from ${imports} i join own on own.id = i.session_id))::float8 as bytes`,
  );
  return Number(row?.bytes ?? 0);
}

/** Stores the workspace sizes of sessions, in bytes. Leaves out sessions that another transaction has locked. */
export async function storeWorkspaceSizes(
  db: Executor,
  sizes: readonly { id: string; bytes: number }[],
): Promise<void> {
  await db.execute(sql`with sizes as (
      select * from json_to_recordset(${JSON.stringify(sizes)}::json) as sizes (id text, bytes bigint)
    ), free as (
      select id from ${sessions} where id in (select id from sizes) for no key update skip locked
    )
    update ${sessions} s set workspace_bytes = sizes.bytes from sizes, free where s.id = sizes.id and free.id = s.id`);
}
