import type { AnnotationRow, AnnotationState } from "./annotation-store.ts";

/**
 * The shape of an annotation in the event `annotation.submitted` and in the list that the API returns: the submitted
 * fields, and the id, time (ISO 8601, UTC) and state of the stored row.
 */
export type DescribedAnnotation = Record<string, unknown> &
  AnnotationState & { id: string; createdAt: string; event: string };

/** Returns the part of a stored annotation that can change. */
export const stateOf = ({
  status,
  resolution,
  resolvedBy,
  sentRequestId,
}: AnnotationState): AnnotationState => ({
  status,
  resolution,
  resolvedBy,
  sentRequestId,
});

/** Converts an annotation from its stored row to the shape in the event and in the API's list. */
export const describeAnnotation = (row: AnnotationRow): DescribedAnnotation => ({
  ...row.payload,
  event: row.event,
  id: row.id,
  createdAt: row.createdAt.toISOString(),
  ...stateOf(row),
});
