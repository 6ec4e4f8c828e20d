import type { AnnotationRow } from "./annotation-store.ts";

/** An annotation in the event and in the list: the submission, with the id and time (ISO 8601, UTC) of the stored row. */
export type DescribedAnnotation = Record<string, unknown> & { id: string; createdAt: string; event: string };

/** @see DescribedAnnotation */
export const describeAnnotation = (row: AnnotationRow): DescribedAnnotation => ({
  ...row.payload,
  event: row.event,
  id: row.id,
  createdAt: row.createdAt.toISOString(),
});
