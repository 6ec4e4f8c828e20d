import { type SQL, sql } from "drizzle-orm";
import type { Database, Executor } from "#db/client.ts";
import { queryRows } from "#db/statement.ts";
import { OPEN } from "./run-store.ts";

/** A session that retention may remove. */
export type IdleSession = { id: string; ownerId: string };

/**
 * SQL condition: one of the sessions that the query `ids` returns was used at or after `since`. A turn, an event and a
 * person in the browser count as use.
 */
const wasTouched = (ids: SQL, since: Date): SQL => sql`exists (
  select from (${ids}) family (id)
    join sessions each on each.id = family.id
    left join browsers on browsers.session_id = family.id
    left join lateral (
      select created_at from events where events.session_id = family.id order by seq desc limit 1
    ) newest on true
  where greatest(each.updated_at, browsers.last_used_at, newest.created_at) >= ${since.toISOString()}::timestamptz)`;

/**
 * Finds root sessions that, like their sub-agents, were not used since `since`. Skips a session if it or one of its
 * sub-agents has an open run. The session whose own row was changed the longest time ago comes first. Each run of the
 * retention job calls this only once, because the statement reads all sessions.
 */
export function findIdleSessions(db: Database, since: Date, limit: number): Promise<IdleSession[]> {
  const tree = sql`select root.id union all select session_id from agents where root_session_id = root.id`;
  return queryRows<IdleSession>(
    db,
    sql`select root.id, root.owner_id as "ownerId" from sessions root
      where root.parent_session_id is null and root.updated_at < ${since.toISOString()}::timestamptz
        and not exists (select from runs where runs.session_id in (${tree}) and runs.state in ${OPEN})
        and not ${wasTouched(tree, since)}
      order by root.updated_at, root.id limit ${limit}`,
  );
}

/** Whether one of these sessions was used at or after `since`. */
export async function isTouched(db: Executor, sessionIds: readonly string[], since: Date): Promise<boolean> {
  const ids = sql`select jsonb_array_elements_text(${JSON.stringify(sessionIds)}::jsonb)`;
  const [row] = await queryRows<{ touched: boolean }>(db, sql`select ${wasTouched(ids, since)} as touched`);
  return row?.touched ?? true;
}
