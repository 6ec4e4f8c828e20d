import { type SQL, sql } from "drizzle-orm";
import {
  agents,
  browsers,
  deliverables,
  deliveries,
  events,
  messages,
  outbox,
  receipts,
  requests,
  runs,
  sessions,
  steps,
  toolCalls,
} from "#db/schema/index.ts";
import { storableText } from "#db/storable.ts";
import { BROWSER_TOOLS } from "#lib/catalogue/tools.ts";
import { NO_SPEND } from "#lib/session/budget/budget.ts";
import { OPEN, PLAYING_ORDER } from "#lib/session/store/run-store.ts";
import type { TurnWrite } from "./turn-write.ts";

/** The type of a value in SQL. Values of `json` and `jsonb` are JSON values, those of `timestamptz` are texts in ISO 8601. */
type ColumnType = "text" | "int" | "bigint" | "float8" | "boolean" | "timestamptz" | "json" | "jsonb";

/** Columns with their types. */
export type Columns = Record<string, ColumnType>;

/** The rows of a part as a table, and the condition that a row belongs to the run. */
type Rows = { table: SQL; ofRun: (row: SQL) => SQL };

/**
 * A part of the statement. Each write has at most one value for each of `columns`, which are columns of `locked_run`, and
 * any number of `rows`, which are a table with the column `run`. `text` is the part's SQL, and `read` takes the values
 * and the rows from a write; undefined if the write has no such part. The statement is executed for several writes, of
 * which some may have no such part: all its columns are null then, and it has no rows. Every part therefore has a condition on
 * one of its columns, or joins its rows.
 */
export type Part = (
  | { columns: Columns; rows?: never; text: () => SQL }
  | { rows: Columns; columns?: never; text: (rows: Rows) => SQL }
) & {
  read: (
    write: TurnWrite,
  ) => { values?: Record<string, unknown>; rows?: readonly object[] | undefined } | undefined;
};

/**
 * SQL: why the browser could not open the last requested page; null if it could, or if the run needed no page. A run
 * needs one if its session selects a page, which the first look opens, or if it called a tool of the browser. If no
 * browser could be started, only the calls count, because the run may have read the page in another way.
 */
const pageError = sql`(select b.last_error from ${browsers} b where b.session_id =
  coalesce((select a.browser_session_id from ${agents} a where a.session_id = locked_run.session_id), locked_run.session_id)
  and (b.desired_url is not null and b.status <> 'error' or exists (
    select 1 from ${toolCalls} c where c.run_id = locked_run.id
      and c.name in (${sql.join(
        BROWSER_TOOLS.map((name) => sql.raw(`'${name}'`)),
        sql`, `,
      )}))))`;

const unlessEmpty = (rows: readonly object[] | undefined) => (rows?.length ? { rows } : undefined);

/**
 * The parts of the statement that records steps, in their order. Each refers to `locked_run`, the locked runs with their
 * writes.
 */
export const PARTS = {
  startRun: {
    columns: { startedAt: "timestamptz" },
    text: () => sql`start_run as (update ${runs} r set state = 'running',
      started_at = coalesce(r.started_at, locked_run."startedAt") from locked_run
      where r.id = locked_run.id and locked_run."startedAt" is not null)`,
    read: ({ startedAt, claim }) => (startedAt && !claim ? { values: { startedAt } } : undefined),
  },
  claimRun: {
    columns: { claimedAt: "timestamptz", player: "text", generation: "int" },
    text: () => sql`claim_run as (update ${runs} r set state = 'running', epoch = r.epoch + 1,
      player = locked_run.player, started_at = locked_run."claimedAt" from locked_run
      where r.id = locked_run.id and locked_run.player is not null)`,
    read: ({ startedAt, claim }) =>
      startedAt && claim ? { values: { ...claim, claimedAt: startedAt } } : undefined,
  },
  parkRun: {
    columns: { parkedAt: "timestamptz" },
    text: () => sql`park_run as (update ${runs} r set parked_at = locked_run."parkedAt" from locked_run
      where r.id = locked_run.id and locked_run."parkedAt" is not null)`,
    read: ({ parkedAt }) => parkedAt && { values: { parkedAt } },
  },
  markCompacting: {
    columns: { isCompacting: "boolean" },
    text: () => sql`mark_compacting as (update ${runs} r set is_compacting = locked_run."isCompacting" from locked_run
      where r.id = locked_run.id and locked_run."isCompacting" is not null)`,
    read: ({ isCompacting }) => (isCompacting === undefined ? undefined : { values: { isCompacting } }),
  },
  endRun: {
    columns: {
      endState: "text",
      endError: "text",
      willRetry: "boolean",
      usage: "jsonb",
      endedAt: "timestamptz",
    },
    text: () => sql`end_run as (update ${runs} r set state = locked_run."endState", error = locked_run."endError",
      will_retry = locked_run."willRetry", is_compacting = false, parked_at = null, usage = locked_run.usage,
      ended_at = locked_run."endedAt",
      page_error = case when locked_run."endState" = 'succeeded' then ${pageError} end
      from locked_run where r.id = locked_run.id and locked_run."endState" is not null)`,
    read: ({ end }) =>
      end && {
        values: {
          endState: end.state,
          endError: end.error && storableText(end.error),
          willRetry: end.retry !== undefined,
          usage: end.usage,
          endedAt: end.endedAt,
        },
      },
  },
  updateSession: {
    columns: {
      draftCount: "int",
      messageSeq: "int",
      spentTokens: "bigint",
      spentUsd: "float8",
      spentMs: "bigint",
      isOver: "boolean",
      isClaim: "boolean",
    },
    text: () => sql`updated_session as (
      update ${sessions} s set event_seq = s.event_seq + locked_run."draftCount",
        message_seq = coalesce(locked_run."messageSeq", s.message_seq),
        spent_tokens = s.spent_tokens + locked_run."spentTokens",
        spent_usd = s.spent_usd + locked_run."spentUsd", spent_ms = s.spent_ms + locked_run."spentMs",
        active_run_id = case when locked_run."isOver" and s.active_run_id = locked_run.id then null
          when locked_run."isClaim" then locked_run.id else s.active_run_id end,
        updated_at = now()
      from locked_run where s.id = locked_run.session_id and locked_run."draftCount" is not null
      returning s.id, s.event_seq as last_seq)`,
    read: ({ drafts, messageSeq = null, end, claim, spend = NO_SPEND }) =>
      drafts.length > 0 || messageSeq !== null || end || spend.tokens > 0 || spend.ms > 0
        ? {
            values: {
              draftCount: drafts.length,
              messageSeq,
              spentTokens: spend.tokens,
              spentUsd: spend.usd,
              spentMs: spend.ms,
              isOver: end !== undefined,
              isClaim: claim !== undefined,
            },
          }
        : undefined,
  },
  insertEvents: {
    rows: { place: "int", kind: "text", request: "text", event_run: "text", head: "text", tail: "text" },
    text: (
      rows,
    ) => sql`insert_events as (insert into ${events} (session_id, seq, kind, request_id, run_id, body)
      select u.id, u.last_seq + d.place, d.kind, d.request, d.event_run, d.head || (u.last_seq + d.place) || d.tail
      from locked_run join updated_session u on u.id = locked_run.session_id join ${rows.table} d on ${rows.ofRun(sql`d`)})`,
    read: ({ drafts }) =>
      unlessEmpty(
        drafts.map(({ kind, requestId, runId, head, tail }, index) => {
          const place = index - drafts.length + 1;
          return { place, kind, request: requestId, event_run: runId, head, tail };
        }),
      ),
  },
  insertDelivery: {
    columns: {
      deliveryId: "text",
      deliveryEvent: "text",
      deliveryHead: "text",
      deliveryPlace: "int",
      deliveryTail: "text",
    },
    text: () => sql`insert_delivery as (
      insert into ${deliveries} (id, session_id, run_id, event, body, next_attempt_at)
      select locked_run."deliveryId", u.id, locked_run.id, locked_run."deliveryEvent",
        locked_run."deliveryHead" || (u.last_seq + locked_run."deliveryPlace") || locked_run."deliveryTail", now()
      from locked_run join updated_session u on u.id = locked_run.session_id where locked_run."deliveryId" is not null)`,
    read: ({ delivery, drafts }) =>
      delivery && {
        values: {
          deliveryId: delivery.id,
          deliveryEvent: delivery.event,
          deliveryHead: delivery.head + delivery.draft.head,
          deliveryPlace: drafts.indexOf(delivery.draft) - drafts.length + 1,
          deliveryTail: `${delivery.draft.tail}}`,
        },
      },
  },
  // The steps of a write get positions in their order, because Postgres sorts the rows before it assigns positions.
  insertSteps: {
    rows: { place: "int", name: "text", output: "json", model_messages: "json", replaces_through: "bigint" },
    text: (rows) => sql`insert_step as (
      insert into ${steps} (run_id, session_id, name, output, model_messages, replaces_through)
      select locked_run.id, locked_run.session_id, s.name, coalesce(s.output, 'null'), s.model_messages, s.replaces_through
      from locked_run join ${rows.table} s on ${rows.ofRun(sql`s`)} order by locked_run.session_id, s.place
      returning run_id, position)`,
    read: ({ step, stepBefore }) =>
      unlessEmpty(
        [stepBefore, step].flatMap((each, place) => {
          if (!each) return [];
          const { name, output, modelMessages, replacesThrough } = each;
          return { place, name, output, model_messages: modelMessages, replaces_through: replacesThrough };
        }),
      ),
  },
  insertMessages: {
    rows: { id: "text", seq: "int", role: "text", parts: "json", createdAt: "timestamptz" },
    text: (rows) => sql`insert_messages as (
      insert into ${messages} (id, session_id, seq, role, parts, request_id, run_id, author, created_at)
      select m.id, locked_run.session_id, m.seq, m.role, m.parts, locked_run.request_id, locked_run.id, null, m."createdAt"
      from locked_run join ${rows.table} m on ${rows.ofRun(sql`m`)})`,
    read: (write) => unlessEmpty(write.messages),
  },
  updateMessages: {
    rows: { id: "text", parts: "json" },
    text: (rows) => sql`update_messages as (
      update ${messages} m set parts = u.parts
      from locked_run join ${rows.table} u on ${rows.ofRun(sql`u`)} where m.id = u.id)`,
    read: (write) => unlessEmpty(write.updatedMessages),
  },
  renumberMessages: {
    rows: { id: "text", seq: "int" },
    text: (rows) => sql`renumber_messages as (
      update ${messages} m set seq = p.seq
      from locked_run join ${rows.table} p on ${rows.ofRun(sql`p`)} where m.id = p.id)`,
    read: (write) => unlessEmpty(write.renumbered),
  },
  upsertToolCalls: {
    rows: {
      callId: "text",
      resultId: "text",
      name: "text",
      input: "json",
      state: "text",
      refusal: "text",
      resultText: "text",
      startedAt: "timestamptz",
      endedAt: "timestamptz",
    },
    text: (rows) => sql`upsert_tool_calls as (
      insert into ${toolCalls}
        (run_id, call_id, session_id, result_id, name, input, state, refusal, result_text, started_at, ended_at)
      select locked_run.id, c."callId", locked_run.session_id, c."resultId", c.name, coalesce(c.input, 'null'), c.state, c.refusal,
        c."resultText", c."startedAt", c."endedAt"
      from locked_run join ${rows.table} c on ${rows.ofRun(sql`c`)}
      on conflict (run_id, call_id) do update set state = excluded.state, refusal = excluded.refusal, result_text = excluded.result_text,
        result_id = excluded.result_id, ended_at = excluded.ended_at)`,
    read: (write) => unlessEmpty(write.toolCalls),
  },
  // Only a pending deliverable is updated, because one that is ready or failed is final.
  upsertDeliverable: {
    columns: {
      deliverableStatus: "text",
      deliverableValue: "json",
      deliverableError: "text",
      rawText: "text",
      violations: "json",
    },
    text: () => sql`upsert_deliverable as (
      insert into ${deliverables} as d (run_id, session_id, status, value, error, raw_text, violations)
      select id, session_id, locked_run."deliverableStatus",
        case when locked_run."deliverableStatus" = 'ready' then coalesce(locked_run."deliverableValue", 'null') end,
        locked_run."deliverableError", locked_run."rawText", locked_run.violations
      from locked_run where locked_run."deliverableStatus" is not null
      on conflict (run_id) do update set status = excluded.status, value = excluded.value, error = excluded.error,
        raw_text = excluded.raw_text, violations = excluded.violations where d.status = 'pending')`,
    read: ({ deliverable }) =>
      deliverable && {
        values: {
          deliverableStatus: deliverable.status,
          ...(deliverable.status === "ready" && { deliverableValue: deliverable.value }),
          ...(deliverable.status === "failed" && {
            deliverableError: deliverable.error,
            rawText: deliverable.rawText,
            violations: deliverable.violations,
          }),
        },
      },
  },
  insertReceipts: {
    columns: { hasReceipts: "boolean" },
    text: () => sql`insert_receipts as (
      insert into ${receipts} (run_id, session_id)
      select id, session_id from locked_run where locked_run."hasReceipts" on conflict do nothing)`,
    read: ({ deliverable }) =>
      deliverable?.status === "ready" ? { values: { hasReceipts: true } } : undefined,
  },
  // The retry has a deliverable of its own.
  deleteDeliverable: {
    columns: { retryId: "text" },
    text: () => sql`delete_deliverable as (delete from ${deliverables} d using locked_run
      where d.run_id = locked_run.id and d.status = 'pending' and locked_run."retryId" is not null)`,
    read: ({ end }) => end?.retry && { values: { retryId: end.retry.runId } },
  },
  enqueueJobs: {
    rows: { id: "text", name: "text", data: "jsonb" },
    text: (rows) => sql`enqueue_jobs as (
      insert into ${outbox} (id, name, data)
      select j.id, j.name, j.data from locked_run join ${rows.table} j on ${rows.ofRun(sql`j`)})`,
    read: ({ jobs }) => unlessEmpty(jobs),
  },
  insertRetry: {
    columns: { retryId: "text", retryAttempt: "int", retryDelayMs: "float8" },
    text: () => sql`insert_retry as (
      insert into ${runs} (id, session_id, request_id, attempt, origin, not_before)
      select locked_run."retryId", session_id, request_id, locked_run."retryAttempt",
        case (select origin from ${runs} failed where failed.id = locked_run.id) when 'subagent' then 'subagent' else 'retry' end,
        now() + locked_run."retryDelayMs" * interval '1 millisecond'
      from locked_run where locked_run."retryId" is not null)`,
    read: ({ end }) =>
      end?.retry && {
        values: {
          retryId: end.retry.runId,
          retryAttempt: end.retry.attempt,
          retryDelayMs: end.retry.delayMs,
        },
      },
  },
  // If the run that ends was the first in line, enqueues the next run. The generation of the next run is raised, so
  // that the engine does not treat its job as a duplicate of an earlier job. A retry takes the place in line of the run
  // that ends, so only an interrupt can go before the retry.
  enqueueNextRun: {
    columns: { hasRetry: "boolean" },
    text: () => sql`line as (
      select ${runs.id}, ${runs.sessionId}, ${requests.mode},
        row_number() over (partition by ${runs.sessionId} order by ${sql.join(PLAYING_ORDER, sql`, `)}) as place
      from ${runs} join ${requests} on ${requests.id} = ${runs.requestId}
      where ${runs.sessionId} in (select session_id from locked_run where locked_run."hasRetry" is not null)
        and ${runs.state} in ${OPEN}
    ), next_run as (
      update ${runs} r set generation = r.generation + 1 from line where r.id = line.id and line.place = 2
        and exists (select 1 from line l join locked_run on locked_run.id = l.id
          where l.session_id = line.session_id and l.place = 1
          and (not locked_run."hasRetry" or (line.mode = 'interrupt' and l.mode <> 'interrupt')))
      returning r.id, r.session_id, r.generation
    ), enqueue_next_run as (
      insert into ${outbox} (id, name, data)
      select id || ':' || generation, 'turn/run.requested',
        json_build_object('runId', id, 'sessionId', session_id, 'generation', generation)::jsonb from next_run)`,
    read: ({ end }) => end && { values: { hasRetry: end.retry !== undefined } },
  },
} satisfies Record<string, Part>;
