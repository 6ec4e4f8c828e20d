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
import type { Value } from "#db/statement.ts";
import { BROWSER_TOOLS } from "#lib/catalogue/tools.ts";
import { NO_SPEND } from "#lib/session/budget/budget.ts";
import { OPEN, PLAYING_ORDER } from "#lib/session/store/run-store.ts";
import type { TurnWrite } from "./turn-write.ts";

/**
 * A part of the statement. `text` is its SQL. `read` takes its values from a write; undefined if the write has no such
 * part.
 */
type Part = {
  text: (value: Value<string>) => SQL;
  read: (write: TurnWrite) => Record<string, unknown> | undefined;
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

const json = JSON.stringify;
const unlessEmpty = (name: string, rows: readonly object[] | undefined) =>
  rows?.length ? { [name]: json(rows) } : undefined;

/**
 * The parts of the statement that records a step, in their order. Each refers to `locked_run`, the locked run, and takes
 * its values from the write.
 */
export const PARTS = {
  startRun: {
    text: (value) => sql`start_run as (update ${runs} r set state = 'running',
      started_at = coalesce(r.started_at, ${value("startedAt")}::timestamptz) from locked_run where r.id = locked_run.id)`,
    read: ({ startedAt, claim }) =>
      startedAt && !claim ? { startedAt: startedAt.toISOString() } : undefined,
  },
  claimRun: {
    text: (value) => sql`claim_run as (update ${runs} r set state = 'running', epoch = r.epoch + 1,
      player = ${value("player")}, started_at = ${value("startedAt")}::timestamptz from locked_run where r.id = locked_run.id)`,
    read: ({ startedAt, claim }) =>
      startedAt && claim ? { ...claim, startedAt: startedAt.toISOString() } : undefined,
  },
  parkRun: {
    text: (value) => sql`park_run as (
      update ${runs} r set parked_at = ${value("parkedAt")}::timestamptz from locked_run where r.id = locked_run.id)`,
    read: ({ parkedAt }) => parkedAt && { parkedAt: parkedAt.toISOString() },
  },
  markCompacting: {
    text: (value) => sql`mark_compacting as (
      update ${runs} r set is_compacting = ${value("isCompacting")} from locked_run where r.id = locked_run.id)`,
    read: ({ isCompacting }) => (isCompacting === undefined ? undefined : { isCompacting }),
  },
  endRun: {
    text: (
      value,
    ) => sql`end_run as (update ${runs} r set state = ${value("endState")}, error = ${value("endError")},
      will_retry = ${value("willRetry")}, is_compacting = false, parked_at = null, usage = ${value("usage")}::jsonb,
      ended_at = ${value("endedAt")}::timestamptz,
      page_error = case when ${value("endState")} = 'succeeded' then ${pageError} end from locked_run where r.id = locked_run.id)`,
    read: ({ end }) =>
      end && {
        endState: end.state,
        endError: end.error,
        willRetry: end.retry !== undefined,
        usage: json(end.usage),
        endedAt: end.endedAt.toISOString(),
      },
  },
  updateSession: {
    text: (value) => sql`updated_session as (
      update ${sessions} s set event_seq = s.event_seq + ${value("draftCount")}::int,
        message_seq = coalesce(${value("messageSeq")}::int, s.message_seq),
        spent_tokens = s.spent_tokens + ${value("spentTokens")}::bigint,
        spent_usd = s.spent_usd + ${value("spentUsd")}::float8, spent_ms = s.spent_ms + ${value("spentMs")}::bigint,
        active_run_id = case when ${value("isOver")}::boolean and s.active_run_id = locked_run.id then null
          when ${value("isClaim")}::boolean then locked_run.id else s.active_run_id end,
        updated_at = now()
      from locked_run where s.id = locked_run.session_id returning s.event_seq as last_seq)`,
    read: ({ drafts, messageSeq = null, end, claim, spend = NO_SPEND }) =>
      drafts.length > 0 || messageSeq !== null || end || spend.tokens > 0 || spend.ms > 0
        ? {
            draftCount: drafts.length,
            messageSeq,
            spentTokens: spend.tokens,
            spentUsd: spend.usd,
            spentMs: spend.ms,
            isOver: end !== undefined,
            isClaim: claim !== undefined,
          }
        : undefined,
  },
  insertEvents: {
    text: (
      value,
    ) => sql`insert_events as (insert into ${events} (session_id, seq, kind, request_id, run_id, body)
      select locked_run.session_id, last_seq + d.place, d.kind, d.request, d.run, d.head || (last_seq + d.place) || d.tail
      from locked_run, updated_session, json_to_recordset(${value("drafts")}::json)
        as d (place int, kind text, request text, run text, head text, tail text))`,
    read: ({ drafts }) =>
      unlessEmpty(
        "drafts",
        drafts.map(({ kind, requestId, runId, head, tail }, index) => {
          const place = index - drafts.length + 1;
          return { place, kind, request: requestId, run: runId, head, tail };
        }),
      ),
  },
  insertDelivery: {
    text: (value) => sql`insert_delivery as (
      insert into ${deliveries} (id, session_id, run_id, event, body, next_attempt_at)
      select ${value("deliveryId")}, locked_run.session_id, locked_run.id, ${value("deliveryEvent")},
        ${value("deliveryHead")}::text || (last_seq + ${value("deliveryPlace")}::int) || ${value("deliveryTail")}::text,
        now()
      from locked_run, updated_session)`,
    read: ({ delivery, drafts }) =>
      delivery && {
        deliveryId: delivery.id,
        deliveryEvent: delivery.event,
        deliveryHead: delivery.head + delivery.draft.head,
        deliveryPlace: drafts.indexOf(delivery.draft) - drafts.length + 1,
        deliveryTail: `${delivery.draft.tail}}`,
      },
  },
  insertStep: {
    text: (value) => sql`insert_step as (
      insert into ${steps} (run_id, session_id, name, output, model_messages, replaces_through)
      select id, session_id, ${value("stepName")}, ${value("output")}::json, ${value("modelMessages")}::json,
        ${value("replacesThrough")}::bigint
      from locked_run returning position)`,
    read: ({ step, stepBefore }) =>
      step && !stepBefore
        ? {
            stepName: step.name,
            output: json(step.output) ?? "null",
            modelMessages: step.modelMessages ? json(step.modelMessages) : null,
            replacesThrough: step.replacesThrough ?? null,
          }
        : undefined,
  },
  // The two steps get positions in this order, because Postgres sorts the rows before it assigns positions.
  insertTwoSteps: {
    text: (value) => sql`insert_step as (
      insert into ${steps} (run_id, session_id, name, output, model_messages)
      select id, session_id, name, output, model_messages from locked_run, (values
        (1, ${value("firstName")}, ${value("firstOutput")}::json, ${value("firstMessages")}::json),
        (2, ${value("secondName")}, ${value("secondOutput")}::json, ${value("secondMessages")}::json)
      ) as step (place, name, output, model_messages) order by place returning position)`,
    read: ({ step, stepBefore }) =>
      step && stepBefore
        ? {
            firstName: stepBefore.name,
            firstOutput: json(stepBefore.output) ?? "null",
            firstMessages: stepBefore.modelMessages ? json(stepBefore.modelMessages) : null,
            secondName: step.name,
            secondOutput: json(step.output) ?? "null",
            secondMessages: step.modelMessages ? json(step.modelMessages) : null,
          }
        : undefined,
  },
  insertMessages: {
    text: (value) => sql`insert_messages as (
      insert into ${messages} (id, session_id, seq, role, parts, request_id, run_id, author, created_at)
      select m.id, locked_run.session_id, m.seq, m.role, m.parts, locked_run.request_id, locked_run.id, null, m."createdAt"
      from locked_run, json_to_recordset(${value("messages")}::json)
        as m (id text, seq int, role text, parts json, "createdAt" timestamptz))`,
    read: (write) => unlessEmpty("messages", write.messages),
  },
  updateMessages: {
    text: (value) => sql`update_messages as (
      update ${messages} m set parts = u.parts
      from locked_run, json_to_recordset(${value("updatedMessages")}::json) as u (id text, parts json) where m.id = u.id)`,
    read: (write) => unlessEmpty("updatedMessages", write.updatedMessages),
  },
  renumberMessages: {
    text: (value) => sql`renumber_messages as (
      update ${messages} m set seq = p.seq
      from locked_run, json_to_recordset(${value("renumbered")}::json) as p (id text, seq int) where m.id = p.id)`,
    read: (write) => unlessEmpty("renumbered", write.renumbered),
  },
  upsertToolCalls: {
    text: (value) => sql`upsert_tool_calls as (
      insert into ${toolCalls}
        (run_id, call_id, session_id, result_id, name, input, state, refusal, result_text, started_at, ended_at)
      select locked_run.id, c."callId", locked_run.session_id, c."resultId", c.name, coalesce(c.input, 'null'), c.state, c.refusal,
        c."resultText", c."startedAt", c."endedAt"
      from locked_run, json_to_recordset(${value("toolCalls")}::json) as c ("callId" text, "resultId" text, name text,
        input json, state text, refusal text, "resultText" text, "startedAt" timestamptz, "endedAt" timestamptz)
      on conflict (run_id, call_id) do update set state = excluded.state, refusal = excluded.refusal, result_text = excluded.result_text,
        result_id = excluded.result_id, ended_at = excluded.ended_at)`,
    read: (write) => unlessEmpty("toolCalls", write.toolCalls),
  },
  // Only a pending deliverable is updated, because one that is ready or failed is final.
  upsertDeliverable: {
    text: (value) => sql`upsert_deliverable as (
      insert into ${deliverables} as d (run_id, session_id, status, value, error, raw_text, violations)
      select id, session_id, ${value("deliverableStatus")}, ${value("deliverableValue")}::json,
        ${value("deliverableError")}::text, ${value("rawText")}::text, ${value("violations")}::json from locked_run
      on conflict (run_id) do update set status = excluded.status, value = excluded.value, error = excluded.error,
        raw_text = excluded.raw_text, violations = excluded.violations where d.status = 'pending')`,
    read: ({ deliverable }) =>
      deliverable && {
        deliverableStatus: deliverable.status,
        deliverableValue: deliverable.status === "ready" ? json(deliverable.value) : null,
        deliverableError: deliverable.status === "failed" ? deliverable.error : null,
        rawText: deliverable.status === "failed" ? (deliverable.rawText ?? null) : null,
        violations:
          deliverable.status === "failed" && deliverable.violations ? json(deliverable.violations) : null,
      },
  },
  insertReceipts: {
    text: () => sql`insert_receipts as (
      insert into ${receipts} (run_id, session_id) select id, session_id from locked_run on conflict do nothing)`,
    read: ({ deliverable }) => (deliverable?.status === "ready" ? {} : undefined),
  },
  // The retry has a deliverable of its own.
  deleteDeliverable: {
    text: () =>
      sql`delete_deliverable as (delete from ${deliverables} d using locked_run where d.run_id = locked_run.id and d.status = 'pending')`,
    read: ({ end }) => end?.retry && {},
  },
  enqueueJobs: {
    text: (value) => sql`enqueue_jobs as (
      insert into ${outbox} (id, name, data)
      select j.id, j.name, j.data from locked_run, json_to_recordset(${value("jobs")}::json) as j (id text, name text, data jsonb))`,
    read: ({ jobs }) => unlessEmpty("jobs", jobs),
  },
  insertRetry: {
    text: (value) => sql`insert_retry as (
      insert into ${runs} (id, session_id, request_id, attempt, origin, not_before)
      select ${value("retryId")}, session_id, request_id, ${value("retryAttempt")}::int,
        case (select origin from ${runs} failed where failed.id = locked_run.id) when 'subagent' then 'subagent' else 'retry' end,
        now() + ${value("retryDelayMs")}::float8 * interval '1 millisecond' from locked_run)`,
    read: ({ end }) =>
      end?.retry && {
        retryId: end.retry.runId,
        retryAttempt: end.retry.attempt,
        retryDelayMs: end.retry.delayMs,
      },
  },
  // If the run that ends was the first in line, enqueues the next run. The generation of the next run is raised, so
  // that the engine does not treat its job as a duplicate of an earlier job. A retry takes the place in line of the run
  // that ends, so only an interrupt can go before the retry.
  enqueueNextRun: {
    text: (value) => sql`line as (
      select ${runs.id}, ${requests.mode}, row_number() over (order by ${sql.join(PLAYING_ORDER, sql`, `)}) as place
      from ${runs} join ${requests} on ${requests.id} = ${runs.requestId}
      where ${runs.sessionId} = (select session_id from locked_run) and ${runs.state} in ${OPEN}
    ), next_run as (
      update ${runs} r set generation = r.generation + 1 from line where r.id = line.id and line.place = 2
        and exists (select 1 from line l, locked_run where l.place = 1 and l.id = locked_run.id
          and (not ${value("hasRetry")}::boolean or (line.mode = 'interrupt' and l.mode <> 'interrupt')))
      returning r.id, r.session_id, r.generation
    ), enqueue_next_run as (
      insert into ${outbox} (id, name, data)
      select id || ':' || generation, 'turn/run.requested',
        json_build_object('runId', id, 'sessionId', session_id, 'generation', generation)::jsonb from next_run)`,
    read: ({ end }) => end && { hasRetry: end.retry !== undefined },
  },
} satisfies Record<string, Part>;
