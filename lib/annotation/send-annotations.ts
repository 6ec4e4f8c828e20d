import type { Database, Transaction } from "#db/client.ts";
import type { AnnotationPart } from "#db/schema/index.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { findSession } from "#lib/session/store/session-store.ts";
import { type AnnotationRow, findAnnotations } from "./annotation-store.ts";
import { writeState } from "./change-annotation.ts";
import { writeAnnotation } from "./write-annotation.ts";

/** How many annotations one message can have. */
export const SENT_ANNOTATIONS_MAX = 20;
/** How long their texts may be together, in UTF-16 units. */
const SENT_UNITS_MAX = 64_000;

type Parts = { parts: AnnotationPart[]; problem: string | undefined };

/**
 * Reads annotations as parts of a message. Their texts are those of now: a later change of the page does not change what
 * the agent was sent.
 *
 * @returns the parts, or an error sentence that names the first annotation that cannot be sent.
 */
export async function readAnnotationParts(
  db: Database,
  sessionId: string,
  ids: readonly string[],
): Promise<Parts> {
  if (ids.length === 0) return { parts: [], problem: undefined };
  const rows = await findAnnotations(db, sessionId, ids);
  const problem = findProblem(rows, ids);
  if (problem !== undefined) return { parts: [], problem };
  const byId = new Map(rows.map((row) => [row.id, row]));
  const parts: AnnotationPart[] = [];
  let units = 0;
  for (const [index, id] of ids.entries()) {
    const row = byId.get(id);
    if (!row) continue;
    const text = writeAnnotation(row);
    units += text.length;
    if (units > SENT_UNITS_MAX) return { parts: [], problem: tooLong(index) };
    parts.push({ type: "annotation", annotationId: id, text });
  }
  return { parts, problem: undefined };
}

const tooLong = (index: number) =>
  `annotations[${index}]: with it, the texts of the annotations have more than ${SENT_UNITS_MAX.toLocaleString("en-US")} characters; send it with another message`;

/**
 * Marks annotations as sent, in the transaction that stores their message. The caller has locked the session.
 *
 * @returns an error sentence if one of them can no longer be sent, for example because another message was faster.
 */
export async function markSent(
  tx: Transaction,
  emit: Emit,
  { sessionId, requestId, ids }: { sessionId: string; requestId: string; ids: readonly string[] },
): Promise<string | undefined> {
  if (ids.length === 0) return undefined;
  const session = await findSession(tx, sessionId);
  const rows = await findAnnotations(tx, sessionId, ids);
  const problem = findProblem(rows, ids);
  if (problem !== undefined || !session) return problem;
  const sent = { status: "sent", sentRequestId: requestId } as const;
  for (const row of rows) await writeState(tx, emit, { row, session }, sent);
  return undefined;
}

const REASONS = {
  sent: "was sent already; reopen it to send it again",
  resolved: "is resolved; reopen it to send it again",
} as const;

function findProblem(rows: readonly AnnotationRow[], ids: readonly string[]): string | undefined {
  for (const [index, id] of ids.entries()) {
    const status = rows.find((row) => row.id === id)?.status;
    if (status === "open" || status === "lost") continue;
    const reason = status === undefined ? "is no annotation of this session" : REASONS[status];
    return `annotations[${index}]: ${reason}`;
  }
  return undefined;
}
