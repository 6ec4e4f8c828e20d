import type { AnnotationRow } from "./annotation-store.ts";

/**
 * An annotation as the event and the list show it: the submitted fields, and the id and the time (ISO 8601, UTC) of its
 * row.
 */
export type DescribedAnnotation = Record<string, unknown> & { id: string; createdAt: string; event: string };

/** @see DescribedAnnotation */
export const describeAnnotation = (row: AnnotationRow): DescribedAnnotation => ({
  ...row.payload,
  event: row.event,
  id: row.id,
  createdAt: row.createdAt.toISOString(),
});
