import type { AnnotationRow } from "./annotation-store.ts";

/**
 * The shape of an annotation in the event `annotation.submitted` and in the list that the API returns: the submitted
 * fields, and the id and time (ISO 8601, UTC) of the stored row.
 */
export type DescribedAnnotation = Record<string, unknown> & { id: string; createdAt: string; event: string };

/** Converts an annotation from its stored row to the shape in the event and in the API's list. */
export const describeAnnotation = (row: AnnotationRow): DescribedAnnotation => ({
  ...row.payload,
  event: row.event,
  id: row.id,
  createdAt: row.createdAt.toISOString(),
});
