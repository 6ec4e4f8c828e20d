import { eq, inArray } from "drizzle-orm";
import type { Database, Executor } from "#db/client.ts";
import { pagePictures } from "#db/schema/index.ts";

/** The last picture of a session's page. */
export type PagePicture = { mediaType: string; bytes: Uint8Array; takenAt: Date };

/** Stores a picture in place of the session's earlier picture. @throws when the session does not exist. */
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

/** Reads the last picture of a session's page. Undefined if there is no picture. */
export async function readPagePicture(db: Database, sessionId: string): Promise<PagePicture | undefined> {
  const [row] = await db.select().from(pagePictures).where(eq(pagePictures.sessionId, sessionId));
  return row;
}

/** Reads the time of the last picture of each session's page. Sessions without a picture are left out. */
export async function readPictureTimes(db: Executor, sessionIds: string[]): Promise<Map<string, Date>> {
  if (sessionIds.length === 0) return new Map();
  const rows = await db
    .select({ sessionId: pagePictures.sessionId, takenAt: pagePictures.takenAt })
    .from(pagePictures)
    .where(inArray(pagePictures.sessionId, sessionIds));
  return new Map(rows.map(({ sessionId, takenAt }) => [sessionId, takenAt]));
}
