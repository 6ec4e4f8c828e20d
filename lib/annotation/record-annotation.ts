import type { EventLog } from "#lib/events/event-log.ts";
import { mebibytes } from "#lib/session/byte-limits.ts";
import { deriveId, newId } from "#lib/session/new-id.ts";
import { findSession, lockSession, type SessionRow } from "#lib/session/store/session-store.ts";
import { type AnnotationLimits, hasAnnotation, insertAnnotation, OPEN } from "./annotation-store.ts";
import { describeAnnotation } from "./describe-annotation.ts";
import type { AnnotationSubmission } from "./parse-submission.ts";

type RecordedAnnotation =
  | { ok: true; id: string }
  | { ok: false; reason: "unknown session" }
  /** The annotation would exceed a limit of the session. `error` names the limit. */
  | { ok: false; reason: "full"; error: string };

/**
 * Stores a submission and its event `annotation.submitted` in one transaction, so the event is broadcast only after the
 * commit. An annotation never starts a turn. `limits` apply to the session's annotations as a whole. Source:
 * specification, POST …/annotations/webhook; `wire.md`, Annotations.
 *
 * @param key random text that names this submission. A repeat with the same key stores nothing and has the same outcome.
 */
export async function recordAnnotation(
  deps: { log: EventLog },
  sessionId: string,
  submission: AnnotationSubmission,
  limits: AnnotationLimits,
  key?: string,
): Promise<RecordedAnnotation> {
  return deps.log.transact(sessionId, async (tx, emit): Promise<RecordedAnnotation> => {
    // The lock makes a repeat wait for an attempt that is still in progress.
    const session = await (key === undefined ? findSession : lockSession)(tx, sessionId);
    if (!session) return { ok: false, reason: "unknown session" };
    const id = key === undefined ? newId("ann") : deriveId("ann", sessionId, key);
    if (key !== undefined && (await hasAnnotation(tx, sessionId, id))) return { ok: true, id };
    const row = {
      id,
      sessionId,
      event: submission.event,
      payload: submission,
      createdAt: new Date(),
      ...OPEN,
    };
    if (!(await insertAnnotation(tx, row, limits))) {
      // Reads the counters again, because other annotations may have been stored since the first read.
      const full = await findSession(tx, sessionId);
      if (!full) return { ok: false, reason: "unknown session" };
      return { ok: false, reason: "full", error: describeFull(full, limits) };
    }
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

/** Builds the error sentence for a full session. The sentence names the limit that another annotation would exceed. */
function describeFull(
  { annotationCount, annotationBytes }: Pick<SessionRow, "annotationCount" | "annotationBytes">,
  { count, bytes }: AnnotationLimits,
): string {
  if (count > 0 && annotationCount >= count)
    return `the session has ${annotationCount.toLocaleString("en-US")} annotations; a session may have ${count.toLocaleString("en-US")} (ANNOTATIONS_SESSION_MAX)`;
  return `the annotations of the session have ${mebibytes(annotationBytes)} and would have more; a session may have ${mebibytes(bytes)} (ANNOTATIONS_SESSION_MIB)`;
}
