import type { Database } from "#db/client.ts";
import type { AnnotationStatus } from "#db/schema/unions.ts";
import { listAnnotationRows } from "./annotation-store.ts";
import { type DescribedAnnotation, describeAnnotation } from "./describe-annotation.ts";

/** One page of a list of annotations. `nextCursor` is null on the last page. */
type AnnotationPage = { data: DescribedAnnotation[]; nextCursor: string | null };

/** Lists the annotations of a session, newest first, at most `limit` per page. Source: `wire.md`, Also served. */
export async function listAnnotations(
  db: Database,
  sessionId: string,
  page: { cursor?: string; limit: number; status?: readonly AnnotationStatus[] },
): Promise<AnnotationPage> {
  const rows = await listAnnotationRows(db, sessionId, { ...page, limit: page.limit + 1 });
  const shown = rows.slice(0, page.limit);
  return {
    data: shown.map(describeAnnotation),
    nextCursor: rows.length > page.limit ? (shown.at(-1)?.id ?? null) : null,
  };
}
