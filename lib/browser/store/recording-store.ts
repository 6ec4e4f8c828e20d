import { and, asc, count, desc, eq, inArray, lt, sql, sum } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { recordedPictures } from "#db/schema/index.ts";
import { deriveId } from "#lib/session/new-id.ts";

type Row = typeof recordedPictures.$inferSelect;

/** A picture of a recording, without its bytes. */
type RecordedPicture = Omit<Row, "bytes" | "sessionId" | "position">;

/** A picture to keep. A repeat with the same key stores nothing. */
export type NewRecordedPicture = Pick<Row, "sessionId" | "runId" | "callId" | "url" | "title" | "bytes"> & {
  key: string;
};

/** The most pictures of a recording. */
export const PICTURES_MAX = 500;
/** The newest pictures of a recording are removed last. */
const NEWEST_KEPT = 20;
/** How much of its budget a recording may have after pictures were removed, so that the next ones have room. */
const SHARE_KEPT = 0.75;

/**
 * Stores a picture. If the recording then exceeds its budget, removes older pictures evenly, so that what remains covers
 * the whole session. Stores nothing if the session or the run was removed.
 *
 * @param bytesMax the budget of one recording. 0 stores nothing.
 * @returns whether pictures are kept.
 */
export async function keepRecordedPicture(
  db: Database,
  { key, ...picture }: NewRecordedPicture,
  bytesMax: number,
): Promise<boolean> {
  if (bytesMax === 0) return false;
  const { sessionId, runId, bytes } = picture;
  await db.execute(sql`insert into recorded_pictures
    (id, session_id, position, run_id, call_id, url, title, bytes, size_bytes)
    select ${deriveId("pic", sessionId, key)}, sessions.id,
      (select coalesce(max(position), 0) + 1 from recorded_pictures where session_id = ${sessionId}),
      ${runId}, ${picture.callId}, ${picture.url}, ${picture.title}, ${bytes}, ${bytes.byteLength}
    from sessions where sessions.id = ${sessionId}
      and (${runId}::text is null or exists (select from runs where runs.id = ${runId}))
    on conflict (id) do nothing`);
  await thinOut(db, sessionId, bytesMax);
  return true;
}

async function thinOut(db: Database, sessionId: string, bytesMax: number): Promise<void> {
  const isOfSession = eq(recordedPictures.sessionId, sessionId);
  const [all] = await db
    .select({ count: count(), bytes: sum(recordedPictures.sizeBytes).mapWith(Number) })
    .from(recordedPictures)
    .where(isOfSession);
  if (!all || (all.count <= PICTURES_MAX && all.bytes <= bytesMax)) return;
  const { id, position, sizeBytes } = recordedPictures;
  const pictures = await db
    .select({ id, position, sizeBytes })
    .from(recordedPictures)
    .where(isOfSession)
    .orderBy(asc(position), asc(id));
  const removed = choosePictures(pictures, bytesMax);
  if (removed.length > 0) await db.delete(recordedPictures).where(inArray(id, removed));
}

/**
 * Chooses the pictures to remove: those whose positions are not multiples of a power of two, the smallest with which the
 * rest leaves room. The first picture stays, and the newest ones unless they alone exceed the budget.
 */
function choosePictures(
  pictures: readonly Pick<Row, "id" | "position" | "sizeBytes">[],
  bytesMax: number,
): string[] {
  const hasRoomWithout = (removed: readonly (typeof pictures)[number][]) => {
    const gone = new Set(removed);
    const left = pictures.filter((picture) => !gone.has(picture));
    const bytes = left.reduce((total, { sizeBytes }) => total + sizeBytes, 0);
    return left.length <= PICTURES_MAX * SHARE_KEPT && bytes <= bytesMax * SHARE_KEPT;
  };
  const hasRoomForNewest =
    pictures.slice(-NEWEST_KEPT).reduce((total, { sizeBytes }) => total + sizeBytes, 0) <= bytesMax / 2;
  const removable = pictures.slice(1, hasRoomForNewest ? -NEWEST_KEPT : -1);
  let removed: typeof removable = [];
  for (let step = 2; !hasRoomWithout(removed) && removed.length < removable.length; step *= 2)
    removed = removable.filter(({ position }) => position % step !== 0);
  return removed.map(({ id }) => id);
}

/** Lists the pictures of a recording, oldest first. */
export function listRecordedPictures(db: Database, sessionId: string): Promise<RecordedPicture[]> {
  const { id, runId, callId, url, title, sizeBytes, takenAt } = recordedPictures;
  return db
    .select({ id, runId, callId, url, title, sizeBytes, takenAt })
    .from(recordedPictures)
    .where(eq(recordedPictures.sessionId, sessionId))
    .orderBy(asc(recordedPictures.position), asc(id));
}

/** Whether the recording of a session has a picture. */
export async function hasRecordedPicture(db: Database, sessionId: string, id: string): Promise<boolean> {
  const found = await db
    .select({ id: recordedPictures.id })
    .from(recordedPictures)
    .where(and(eq(recordedPictures.id, id), eq(recordedPictures.sessionId, sessionId)));
  return found.length > 0;
}

/** Reads the bytes of a picture, a JPEG. Undefined if the session has no such picture. */
export async function readRecordedPicture(
  db: Database,
  sessionId: string,
  id: string,
): Promise<Uint8Array | undefined> {
  const [row] = await db
    .select({ bytes: recordedPictures.bytes })
    .from(recordedPictures)
    .where(and(eq(recordedPictures.id, id), eq(recordedPictures.sessionId, sessionId)));
  return row?.bytes;
}

/** Returns the picture of the page as a call left it; undefined if the recording has none. */
export async function findPictureAfter(
  db: Database,
  sessionId: string,
  callId: string,
): Promise<(RecordedPicture & Pick<Row, "bytes">) | undefined> {
  const [row] = await db
    .select()
    .from(recordedPictures)
    .where(and(eq(recordedPictures.sessionId, sessionId), eq(recordedPictures.callId, callId)))
    .orderBy(desc(recordedPictures.position))
    .limit(1);
  return row;
}

/** Removes pictures that were taken before a time, at most `limit`. @returns how many were removed. */
export async function removeOldPictures(db: Database, before: Date, limit: number): Promise<number> {
  const old = db
    .select({ id: recordedPictures.id })
    .from(recordedPictures)
    .where(lt(recordedPictures.takenAt, before))
    .limit(limit);
  const removed = await db
    .delete(recordedPictures)
    .where(sql`${recordedPictures.id} in (${old})`)
    .returning({ id: recordedPictures.id });
  return removed.length;
}
