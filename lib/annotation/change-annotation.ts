import type { Transaction } from "#db/client.ts";
import type { PlanAuthor } from "#db/schema/unions.ts";
import type { NewEvent, StoredEvent } from "#lib/events/event.ts";
import type { Emit, EventLog } from "#lib/events/event-log.ts";
import { appendEvents } from "#lib/events/event-store.ts";
import { lockSession, type SessionRow } from "#lib/session/store/session-store.ts";
import {
  type AnnotationRow,
  type AnnotationState,
  deleteAnnotation,
  findAnnotations,
  findSentAnnotations,
  updateAnnotation,
} from "./annotation-store.ts";
import { type DescribedAnnotation, describeAnnotation, stateOf } from "./describe-annotation.ts";

type Deps = { log: EventLog };

/** Largest length of a resolution, in UTF-16 units. */
export const RESOLUTION_UNITS_MAX = 2_000;

/** What a person or the agent does to an annotation. A reopened annotation can be sent again. */
type AnnotationChange = { status: "resolved"; resolution?: string | undefined } | { status: "open" };

/** Who changes an annotation. The agent's run is named in the event. */
type Author = { by: PlanAuthor; requestId: string | null; runId: string | null };

const PERSON: Author = { by: "person", requestId: null, runId: null };

/**
 * Resolves or reopens an annotation. A change that changes nothing has no event. Source: `wire.md`, Annotations.
 *
 * @returns the annotation after the change; undefined if the session has none with this id.
 */
export function changeAnnotation(
  deps: Deps,
  sessionId: string,
  id: string,
  change: AnnotationChange,
  author: Author = PERSON,
): Promise<DescribedAnnotation | undefined> {
  return deps.log.transact(sessionId, async (tx, emit) => {
    const session = await lockSession(tx, sessionId);
    const [row] = session ? await findAnnotations(tx, sessionId, [id]) : [];
    if (!session || !row) return undefined;
    const state: Partial<AnnotationState> =
      change.status === "open"
        ? { status: "open", resolution: null, resolvedBy: null }
        : { status: "resolved", resolution: change.resolution ?? null, resolvedBy: author.by };
    return describeAnnotation(await writeState(tx, emit, { row, session }, state, author));
  });
}

/** Removes an annotation permanently. @returns false if the session has none with this id. */
export function removeAnnotation(deps: Deps, sessionId: string, id: string): Promise<boolean> {
  return deps.log.transact(sessionId, async (tx, emit) => {
    const session = await lockSession(tx, sessionId);
    const [row] = session ? await findAnnotations(tx, sessionId, [id]) : [];
    if (!session || !row) return false;
    await deleteAnnotation(tx, row);
    emit({
      kind: "annotation.removed",
      requestId: null,
      runId: null,
      source: session.source,
      annotationId: id,
    });
    return true;
  });
}

/**
 * Opens the annotations again that a message has sent which is removed from the queue before the agent gets it, in the
 * transaction that removes it. The caller has locked the session.
 *
 * @returns the events to publish after the commit.
 */
export async function reopenUnsent(
  tx: Transaction,
  session: Pick<SessionRow, "id" | "source">,
  requestId: string,
): Promise<StoredEvent[]> {
  const events: NewEvent[] = [];
  for (const row of await findSentAnnotations(tx, session.id, requestId))
    await writeState(
      tx,
      (event) => events.push(event),
      { row, session },
      { status: "open", sentRequestId: null },
    );
  return events.length === 0 ? [] : appendEvents(tx, session.id, events);
}

/** Writes a new state and its event, unless the annotation has that state. The caller has locked the session. */
export async function writeState(
  tx: Transaction,
  emit: Emit,
  { row, session }: { row: AnnotationRow; session: Pick<SessionRow, "source"> },
  change: Partial<AnnotationState>,
  { requestId, runId }: Pick<Author, "requestId" | "runId"> = PERSON,
): Promise<AnnotationRow> {
  const changed = { ...row, ...change };
  if (JSON.stringify(stateOf(changed)) === JSON.stringify(stateOf(row))) return row;
  await updateAnnotation(tx, row.id, change);
  emit({
    kind: "annotation.changed",
    requestId,
    runId,
    source: session.source,
    annotationId: row.id,
    ...stateOf(changed),
  });
  return changed;
}
