import { asc, eq } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { evidence, previews, sessions } from "#db/schema/index.ts";
import type { Preview } from "#lib/events/event.ts";
import type { ViewportName } from "../check/check-report.ts";

/** A row of the table of previews. */
export type PreviewRow = typeof previews.$inferSelect;

/** Replaces all previews of a session. Locks the session until the transaction ends. */
export async function replacePreviews(tx: Transaction, sessionId: string, rows: PreviewRow[]): Promise<void> {
  await tx.select({ id: sessions.id }).from(sessions).where(eq(sessions.id, sessionId)).for("update");
  await tx.delete(previews).where(eq(previews.sessionId, sessionId));
  if (rows.length > 0) await tx.insert(previews).values(rows);
}

/** Lists the rows of a session's previews, ordered by position. */
export const listPreviewRows = (db: Executor, sessionId: string): Promise<PreviewRow[]> =>
  db.select().from(previews).where(eq(previews.sessionId, sessionId)).orderBy(asc(previews.position));

/** Lists the previews of a session with their pictures, in the shape in which the API returns them. */
export async function listPreviews(db: Executor, sessionId: string): Promise<Preview[]> {
  const rows = await db
    .select({ preview: previews, picture: evidence })
    .from(previews)
    .leftJoin(evidence, eq(evidence.id, previews.evidenceId))
    .where(eq(previews.sessionId, sessionId))
    .orderBy(asc(previews.position));
  return rows.map(({ preview, picture }) => ({
    title: preview.title,
    url: preview.url,
    viewport: {
      // The cast is safe, because only names of viewports are stored.
      name: preview.viewport as ViewportName | null,
      width: preview.width,
      height: preview.height,
    },
    variant: preview.variant,
    revision: preview.revision,
    caption: preview.caption,
    evidence: picture && {
      id: picture.id,
      kind: picture.kind,
      title: picture.title,
      url: picture.url,
      mediaType: picture.mediaType,
    },
    error: preview.error,
    takenAt: preview.takenAt?.toISOString() ?? null,
  }));
}
