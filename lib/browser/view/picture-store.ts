import { eq } from "drizzle-orm";
import type { Database } from "#db/client.ts";
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

/** When the last picture was taken, without reading it; null if there is none. */
export async function readPictureTime(db: Database, sessionId: string): Promise<Date | null> {
  const [row] = await db
    .select({ takenAt: pagePictures.takenAt })
    .from(pagePictures)
    .where(eq(pagePictures.sessionId, sessionId));
  return row?.takenAt ?? null;
}
