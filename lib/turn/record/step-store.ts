import { type SQL, sql } from "drizzle-orm";
import type { Executor } from "#db/client.ts";
import { defineStatement, queryRows, type Statement } from "#db/statement.ts";
import { unreadSteers } from "#lib/session/follow-up/steering.ts";
import type { Claim } from "./claim.ts";
import { LOCKS } from "./step-locks-store.ts";
import { type Columns, PARTS, type Part } from "./step-parts-store.ts";
import type { Fence, TurnWrite, WriteReceipt } from "./turn-write.ts";

/** The name of a part. The statement has its parts in the order of {@link PARTS}. */
type PartName = keyof typeof PARTS;
const PART_NAMES = Object.keys(PARTS) as PartName[];
const partOf = (name: PartName): Part => PARTS[name];

/**
 * The fences and parts that a statement of several writes always has, so that nearly all such statements have one text.
 * A database plans each text several times on each connection.
 */
const USUAL_FENCES: readonly Fence[] = ["alone", "claimed", "fresh"];
const USUAL_PARTS: readonly PartName[] = [
  "claimRun",
  "endRun",
  "updateSession",
  "insertEvents",
  "insertSteps",
  "insertMessages",
  "upsertToolCalls",
];

const steered = sql`${unreadSteers(sql`locked_run.request_id`)} as is_steered`;

/** The result columns that each part adds to the statement. */
const COLUMNS: Partial<Record<PartName, SQL>> = {
  updateSession: sql`(select last_seq from updated_session u where u.id = locked_run.session_id) as last_seq`,
  insertSteps: sql`(select max(position) from insert_step s where s.run_id = locked_run.id) as position,
    (select min(position) from insert_step s where s.run_id = locked_run.id) as position_before, ${steered}`,
  enqueueNextRun: sql`(select json_build_object('id', n.id, 'generation', n.generation) from next_run n
    where n.session_id = locked_run.session_id) as following`,
};

type Row = {
  run: string;
  is_cancelled: boolean;
  is_steered?: boolean;
  last_seq?: number | string | null;
  position?: number | string | null;
  position_before?: number | string | null;
  following?: WriteReceipt["following"] | null;
};

/** What the text of a statement depends on. */
type Shape = {
  fences: readonly Fence[];
  names: readonly PartName[];
  isForSeveral: boolean;
  mayBeUnlessSteered: boolean;
  skipsLocked: boolean;
};

/** Cache of composed statements, by shape. */
const statements = new Map<string, Statement<string>>();

function findStatement(shape: Shape): Statement<string> {
  const key = JSON.stringify(shape);
  const statement = statements.get(key) ?? composeStatement(shape);
  statements.set(key, statement);
  return statement;
}

function composeStatement({ fences, names, isForSeveral, mayBeUnlessSteered, skipsLocked }: Shape) {
  const columns: Columns = Object.assign({}, ...names.map((name) => partOf(name).columns));
  const lock = {
    values: sql.join(Object.keys(columns).map((name) => sql`, write.${sql.identifier(name)}`)),
    order: isForSeveral ? sql`order by session.id` : sql``,
    skip: skipsLocked ? sql`skip locked` : sql``,
    mayBeUnlessSteered,
  };
  const lockedBy = (fence: Fence) =>
    isForSeveral ? sql`${sql.identifier(`locked_${fence}`)}` : sql`locked_run`;
  const lockParts = fences.map((fence) => LOCKS[fence]({ ...lock, name: lockedBy(fence) }));
  if (isForSeveral) {
    const all = fences.map((fence) => sql`select * from ${lockedBy(fence)}`);
    lockParts.push(sql`locked_run as (${sql.join(all, sql` union all `)})`);
  }
  const results = [sql`id as run`, sql`is_cancelled`, ...names.flatMap((name) => COLUMNS[name] ?? [])];
  return defineStatement<string>((value) => {
    const table = (name: string, of: Columns) =>
      sql`(select * from json_to_recordset(${value(name)}::json) as ${sql.identifier(name)} (run text, ${toColumns(of)}))`;
    const writes = table("writes", { fence: "text", epoch: "int", unlessSteered: "boolean", ...columns });
    const ofRun = (row: SQL) => (isForSeveral ? sql`${row}.run = locked_run.id` : sql`true`);
    const parts = names.map((name) => {
      const part = partOf(name);
      return part.rows ? part.text({ table: table(name, part.rows), ofRun }) : part.text();
    });
    const all = [sql`write as ${writes}`, ...lockParts, ...parts];
    return sql`with ${sql.join(all, sql`, `)} select ${sql.join(results, sql`, `)} from locked_run`;
  });
}

const toColumns = (columns: Columns) =>
  sql.join(
    Object.entries(columns).map(([name, type]) => sql`${sql.identifier(name)} ${sql.raw(type)}`),
    sql`, `,
  );

/** A write of one run, as JSON texts: its values, and the rows of its parts, separated by commas. */
export type ComposedWrite = {
  claim: Pick<Claim, "sessionId" | "runId" | "epoch">;
  fence: Fence;
  unlessSteered: boolean;
  values: string;
  rows: Map<PartName, string>;
  names: Set<PartName>;
  /** Characters of all texts. */
  size: number;
};

/** Composes the values of a write. The texts must be storable (`db/storable.ts`). */
export function composeWrite(
  claim: ComposedWrite["claim"],
  write: TurnWrite,
  fence: Fence = "claimed",
): ComposedWrite {
  const { runId, epoch } = claim;
  // A message that joined the turn must be read before the turn ends, by this run or by its retry.
  const unlessSteered = write.unlessSteered ?? (write.end !== undefined && write.end.retry === undefined);
  const values: Record<string, unknown> = { run: runId, epoch, fence, unlessSteered };
  const rows = new Map<PartName, string>();
  const names = new Set<PartName>();
  for (const name of PART_NAMES) {
    // The fence `alone` requires that no other run is open, so no run follows.
    const read = fence === "alone" && name === "enqueueNextRun" ? undefined : partOf(name).read(write);
    if (!read) continue;
    names.add(name);
    Object.assign(values, read.values);
    if (read.rows) rows.set(name, read.rows.map((row) => JSON.stringify({ run: runId, ...row })).join());
  }
  const texts = { values: JSON.stringify(values), rows };
  const size = [texts.values, ...rows.values()].reduce((sum, { length }) => sum + length, 0);
  return { claim, fence, unlessSteered, names, size, ...texts };
}

/**
 * Writes several runs in one statement: of each write everything, or nothing. Each belongs to a session of its own. To
 * end a run with another fence than `alone`, the caller must hold the locks of the run and the session, so that the
 * queue cannot change meanwhile.
 *
 * @param options.skipsLocked whether writes are left out whose run or session is locked by another transaction.
 * Otherwise the statement waits.
 * @returns the receipts by run; none for a write that was left out: the fence did not hold, or a message that joined the
 * turn is unread and the write does not allow this (`unlessSteered`).
 */
export async function writeRuns(
  db: Executor,
  writes: readonly ComposedWrite[],
  { skipsLocked = false } = {},
): Promise<Map<string, WriteReceipt>> {
  const isForSeveral = writes.length > 1;
  const names = PART_NAMES.filter(
    (name) => (isForSeveral && USUAL_PARTS.includes(name)) || writes.some((write) => write.names.has(name)),
  );
  const fences = [...new Set([...(isForSeveral ? USUAL_FENCES : []), ...writes.map(({ fence }) => fence)])];
  const mayBeUnlessSteered = isForSeveral || writes.some(({ unlessSteered }) => unlessSteered);
  const params: Record<string, string> = { writes: `[${writes.map(({ values }) => values).join()}]` };
  for (const name of names) params[name] = `[${writes.flatMap(({ rows }) => rows.get(name) ?? []).join()}]`;
  const statement = findStatement({ fences, names, isForSeveral, mayBeUnlessSteered, skipsLocked });
  const written = await queryRows<Row>(db, statement(params));
  return new Map(written.map((row) => [row.run, toReceipt(row)]));
}

const toReceipt = (row: Row): WriteReceipt => ({
  isCancelled: row.is_cancelled,
  isSteered: row.is_steered ?? false,
  lastSeq: Number(row.last_seq ?? 0),
  position: Number(row.position ?? 0),
  positionBefore: Number(row.position_before ?? row.position ?? 0),
  following: row.following ?? undefined,
});
