import type { Database } from "#db/client.ts";
import { listAnnotationRows } from "./annotation-store.ts";
import { type DescribedAnnotation, describeAnnotation } from "./describe-annotation.ts";

/** One page; `nextCursor` is null after the last. */
type AnnotationPage = { data: DescribedAnnotation[]; nextCursor: string | null };

/** The annotations of a session, newest first, `limit` to a page. Source: `wire.md`, Also served. */
export async function listAnnotations(
  db: Database,
  sessionId: string,
  page: { cursor?: string; limit: number },
): Promise<AnnotationPage> {
  const found = await listAnnotationRows(db, sessionId, { ...page, limit: page.limit + 1 });
  const shown = found.slice(0, page.limit);
  return {
    data: shown.map(describeAnnotation),
    nextCursor: found.length > page.limit ? (shown.at(-1)?.id ?? null) : null,
  };
}
