import { and, desc, eq, getTableColumns, isNull, lt, notExists, sql } from "drizzle-orm";
import type { Database, Executor, Transaction } from "#db/client.ts";
import { deliverables, evidence, outbox, receipts, runs, sessions, toolCalls } from "#db/schema/index.ts";
import { queryRows } from "#db/statement.ts";
import { TOOL_CATALOGUE } from "#lib/catalogue/tools.ts";
import { enqueueJobs } from "#lib/session/store/job-store.ts";
import { type Job, requestReceipts } from "#lib/session/store/jobs.ts";

/** The receipts of a run's deliverable. `list` is their JSON text; null until they are made. */
type ReceiptsRow = typeof receipts.$inferSelect;

/** Finds the receipts of a session's newest ready deliverable, or of that of a run; undefined if there is none. */
export async function findNewestReceipts(
  db: Executor,
  sessionId: string,
  runId?: string,
): Promise<ReceiptsRow | undefined> {
  const [row] = await db
    .select(getTableColumns(receipts))
    .from(receipts)
    .innerJoin(deliverables, eq(deliverables.runId, receipts.runId))
    .where(
      and(eq(receipts.sessionId, sessionId), runId === undefined ? undefined : eq(receipts.runId, runId)),
    )
    .orderBy(desc(deliverables.createdAt))
    .limit(1);
  return row;
}

/** Stores the receipts of a deliverable. @returns false if they are stored already, or the session was removed. */
export async function storeReceipts(tx: Transaction, runId: string, list: string): Promise<boolean> {
  const rows = await tx
    .update(receipts)
    .set({ list, madeAt: sql`now()` })
    .where(and(eq(receipts.runId, runId), isNull(receipts.madeAt)))
    .returning({ runId: receipts.runId });
  return rows.length > 0;
}

/** Receipts that could not be made by so many jobs are given up. */
const JOBS_MAX = 5;

/**
 * Stores a new job for each deliverable whose receipts are not made, if its last job is old: the engine has lost or
 * given up that job. A job that is not sent yet is not lost.
 */
export function requeueLostReceipts(db: Database, ageMs: number): Promise<Job[]> {
  const unsent = db
    .select({ id: outbox.id })
    .from(outbox)
    .where(
      and(
        isNull(outbox.sentAt),
        sql`${outbox.id} = ${receipts.runId} || ':receipts:' || ${receipts.jobNumber}`,
      ),
    );
  // A time in the future was written before the clock was set back.
  const isOld = sql`not ${receipts.requestedAt} between now() - ${ageMs}::float8 * interval '1 millisecond' and now()`;
  return db.transaction(async (tx) => {
    const lost = await tx
      .update(receipts)
      .set({ jobNumber: sql`${receipts.jobNumber} + 1`, requestedAt: sql`now()` })
      .where(and(isNull(receipts.madeAt), lt(receipts.jobNumber, JOBS_MAX), isOld, notExists(unsent)))
      .returning({ runId: receipts.runId, jobNumber: receipts.jobNumber });
    const jobs = lost.map(requestReceipts);
    await enqueueJobs(tx, jobs);
    return jobs;
  });
}

/** A deliverable whose receipts are to be made. Its value and its schema are JSON texts, which the worker thread parses. */
export type OpenReceipts = {
  sessionId: string;
  source: typeof sessions.$inferSelect.source;
  value: string;
  schema: string | null;
  endedAt: string;
};

/** Finds the deliverable of a run, if its receipts are not made yet. */
export async function findOpen(db: Database, runId: string): Promise<OpenReceipts | undefined> {
  const [row] = await queryRows<OpenReceipts>(
    db,
    sql`select r.session_id as "sessionId", s.source, d.value::text as value, s.output_schema::text as schema,
        coalesce(run.ended_at, now())::text as "endedAt"
      from ${receipts} r join ${deliverables} d on d.run_id = r.run_id join ${sessions} s on s.id = r.session_id
        join ${runs} run on run.id = r.run_id
      where r.run_id = ${runId} and r.made_at is null and d.status = 'ready'`,
  );
  return row;
}

/** The tools whose results say what pages, files, people and commands show. Others repeat what the agent wrote. */
const SEEING = [
  "browser_execute",
  "browser_search",
  "dom_query",
  "inspect_frames",
  "screenshot",
  "read_file",
  "list_files",
  "run_shell",
  "view_image",
  "fetch_url",
  "elicit_user_input",
  "request_handover",
  "list_annotations",
  "read_skill",
  "run_skill_script",
  "import_legacy_session",
  "wait_for_test_results",
];
/** Tools whose results may repeat what the agent wrote as their input. */
const ECHOING = ["browser_execute", "run_shell", "run_skill_script"];
const SILENT = Object.keys(TOOL_CATALOGUE).filter((name) => !SEEING.includes(name));

/** A text that a session saw, without the text itself. `place` finds it. */
export type TextPlace = {
  kind: "result" | "look" | "message";
  /** `result_id` of a call, `run_id` of a first look, `id` of a message. */
  place: string;
  sessionId: string;
  seq: number;
  url: string | null;
  picture: string | null;
  bytes: number;
  /** Equal texts are read once. */
  hash: string;
  isEchoing: boolean;
};

const inList = (names: readonly string[]) =>
  sql.join(
    names.map((name) => sql`${name}`),
    sql`, `,
  );

/**
 * Lists what a session and its sub-agents had seen at a time: results of tools, first looks at pages, and messages of
 * people. Newest first.
 */
export const listTexts = (db: Database, sessionId: string, before: string): Promise<TextPlace[]> =>
  queryRows<TextPlace>(
    db,
    sql`with recursive family as (
      select id from ${sessions} where id = ${sessionId}
      union all select child.id from ${sessions} child join family on child.parent_session_id = family.id
    ), told as materialized (
      select e.session_id, e.run_id, e.seq, e.kind, e.body::json as body from events e
      where e.session_id in (select id from family) and e.kind in ('tool.result', 'message.completed', 'browser.status')
    ), results as (
      select 'result' as kind, c.result_id as place, c.session_id, t.seq,
        coalesce(case when c.name = 'fetch_url' then c.input ->> 'url' end, case when c.name in (${inList(SEEING.slice(0, 5))}) then (
          select coalesce(s.body ->> 'currentUrl', s.body ->> 'lastNavigatedUrl') from told s
          where s.kind = 'browser.status' and s.session_id = c.session_id and s.seq < t.seq order by s.seq desc limit 1
        ) end) as url,
        t.body #>> '{evidence,0,id}' as picture,
        octet_length(c.result_text) as bytes, md5(c.result_text) as hash, c.name in (${inList(ECHOING)}) as echoing,
        c.started_at as at
      from ${toolCalls} c join told t on t.kind = 'tool.result' and t.session_id = c.session_id
        and t.body ->> 'toolCallId' = c.call_id and t.run_id is not distinct from c.run_id
      where c.result_text is not null and c.refusal is null and c.name not in (${inList(SILENT)})
    ), looks as (
      select 'look' as kind, s.run_id as place, s.session_id, coalesce((select e.seq from events e
          where e.run_id = s.run_id and e.kind = 'run.started'), 0) as seq,
        null::text as url, null::text as picture, octet_length(s.model_messages::text) as bytes,
        md5(s.model_messages::text) as hash, false as echoing, s.created_at as at
      from steps s where s.session_id in (select id from family) and s.name = 'look' and s.model_messages is not null
    ), spoken as (
      select 'message' as kind, m.id as place, m.session_id, t.seq, null::text as url, null::text as picture,
        octet_length(m.parts::text) as bytes, md5(m.parts::text) as hash, false as echoing, m.created_at as at
      from messages m join told t on t.kind = 'message.completed' and t.session_id = m.session_id
        and t.body #>> '{message,id}' = m.id
      where m.session_id = ${sessionId} and m.role = 'user'
    )
    select kind, place, session_id as "sessionId", seq::float8 as seq, url, picture, bytes, hash, echoing as "isEchoing"
    from (select * from results union all select * from looks union all select * from spoken) seen
    where at <= ${before}::timestamptz order by at desc, place`,
  );

/** A text that was listed, and what the agent wrote to get it. */
type PlacedText = { place: string; text: string; authored: string | null };

/** Reads the texts of some places of one kind. */
export function readTexts(db: Database, kind: TextPlace["kind"], places: string[]): Promise<PlacedText[]> {
  const list = inList(places);
  if (kind === "result")
    return queryRows(
      db,
      sql`select result_id as place, result_text as text,
        case when name in (${inList(ECHOING)}) then left(input::text, 100000) end as authored
      from ${toolCalls} where result_id in (${list})`,
    );
  if (kind === "look")
    return queryRows(
      db,
      sql`select run_id as place, null as authored, (select string_agg(coalesce(m ->> 'content', ''), E'\n')
        from json_array_elements(model_messages) m) as text
      from steps where name = 'look' and run_id in (${list})`,
    );
  return queryRows(
    db,
    sql`select id as place, null as authored, coalesce((select string_agg(p ->> 'text', E'\n')
      from json_array_elements(parts) p where p ->> 'text' is not null), '') as text
    from messages where id in (${list})`,
  );
}

/** Lists what the agents of a session cited, as JSON texts of the calls' inputs. */
export async function listCitations(db: Database, sessionId: string): Promise<string[]> {
  const rows = await db
    .select({ input: sql<string>`${toolCalls.input}::text` })
    .from(toolCalls)
    .where(
      and(eq(toolCalls.sessionId, sessionId), eq(toolCalls.name, "cite"), eq(toolCalls.state, "succeeded")),
    )
    .limit(1_000);
  return rows.map(({ input }) => input);
}

/** Lists the newest picture of each page of a session. */
export async function listPictures(db: Database, sessionId: string): Promise<Map<string, string>> {
  const rows = await db
    .select({ id: evidence.id, url: evidence.url })
    .from(evidence)
    .where(and(eq(evidence.sessionId, sessionId), eq(evidence.kind, "screenshot")))
    .orderBy(evidence.createdAt)
    .limit(500);
  return new Map(rows.flatMap(({ id, url }) => (url === null ? [] : [[url, id] as const])));
}
