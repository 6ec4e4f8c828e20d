import type { EventLog } from "#lib/events/event-log.ts";
import { newId } from "#lib/session/new-id.ts";
import { findSession } from "#lib/session/session-store.ts";
import { insertAnnotation } from "./annotation-store.ts";
import { describeAnnotation } from "./describe-annotation.ts";
import type { AnnotationSubmission } from "./parse-submission.ts";

type RecordedAnnotation = { ok: true; id: string } | { ok: false; reason: "unknown session" };

/**
 * Stores a submission and its `annotation.submitted` in one transaction; the log broadcasts it after the commit.
 * It never starts a turn. Source: specification, POST …/annotations/webhook; `wire.md`, Annotations.
 */
export async function recordAnnotation(
  deps: { log: EventLog },
  sessionId: string,
  submission: AnnotationSubmission,
): Promise<RecordedAnnotation> {
  return deps.log.transact(sessionId, async (tx, emit): Promise<RecordedAnnotation> => {
    const session = await findSession(tx, sessionId);
    if (!session) return { ok: false, reason: "unknown session" };
    const row = {
      id: newId("ann"),
      sessionId,
      event: submission.event,
      payload: submission,
      createdAt: new Date(),
    };
    await insertAnnotation(tx, row);
    emit({
      kind: "annotation.submitted",
      requestId: null,
      runId: null,
      source: session.source,
      annotation: describeAnnotation(row),
    });
    return { ok: true, id: row.id };
  });
}
