import { eq, inArray } from "drizzle-orm";
import type { Database, Executor } from "#db/client.ts";
import { pagePictures } from "#db/schema/index.ts";

/** The last picture of a session's page. */
export type PagePicture = { mediaType: string; bytes: Uint8Array; takenAt: Date };

/** Writes the picture in place of the session's earlier one. @throws when the session is gone. */
export async function writePicture(
  db: Database,
  sessionId: string,
  picture: Omit<PagePicture, "takenAt">,
): Promise<void> {
  const fields = { ...picture, takenAt: new Date() };
  await db
    .insert(pagePictures)
    .values({ sessionId, ...fields })
    .onConflictDoUpdate({ target: pagePictures.sessionId, set: fields });
}

/** The last picture of a session's page, if there is one. */
export async function readPagePicture(db: Database, sessionId: string): Promise<PagePicture | undefined> {
  const [row] = await db.select().from(pagePictures).where(eq(pagePictures.sessionId, sessionId));
  return row;
}

/** When the last pictures of these sessions' pages were taken, without reading them; nothing for a session without one. */
export async function readPictureTimes(db: Executor, sessionIds: string[]): Promise<Map<string, Date>> {
  if (sessionIds.length === 0) return new Map();
  const rows = await db
    .select({ sessionId: pagePictures.sessionId, takenAt: pagePictures.takenAt })
    .from(pagePictures)
    .where(inArray(pagePictures.sessionId, sessionIds));
  return new Map(rows.map(({ sessionId, takenAt }) => [sessionId, takenAt]));
}
