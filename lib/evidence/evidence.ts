import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "#db/client.ts";
import type { EvidenceKind } from "#db/schema/unions.ts";
import { createDiskFloor, type DiskFloor } from "#lib/disk/disk-floor.ts";
import { writeDurably } from "#lib/disk/durable.ts";
import type { EvidencePointer } from "#lib/events/event.ts";
import { deriveId, newId, SESSION_ID_PATTERN } from "#lib/session/new-id.ts";
import { readErrorCode, removeFolder } from "#lib/session/removal/remove-folder.ts";
import {
  deleteEvidence,
  type EvidenceRow,
  findEvidence,
  insertEvidence,
  isInDatabase,
  listEvidence,
  listNewestEvidence,
  readBytes,
} from "./evidence-store.ts";

/** A picture, saved page or other file to store. */
export type NewEvidence = {
  sessionId: string;
  runId: string | null;
  kind: EvidenceKind;
  title: string;
  /** URL of the page that the evidence shows. */
  url: string | null;
  mediaType: string;
  bytes: Uint8Array;
  /** Random text that names this save. A repeated save with the same key stores nothing and returns the first pointer. */
  key?: string;
};

/** Evidence as a list shows it, without its bytes. */
type ListedEvidence = EvidencePointer & { sizeBytes: number; createdAt: string };

/** Stored evidence. `bytes` is undefined if they are missing; {@link MISSING_BYTES} is the sentence for that. */
type StoredEvidence = { pointer: EvidencePointer; bytes: Uint8Array | undefined };

/** Continues a sentence about evidence whose row exists, but whose bytes this process cannot read. */
export const MISSING_BYTES =
  "its file is missing: it was lost, or it is in the data folder of another process of the service";

/** Stores evidence: a row in the database, and the bytes either in a file below the data folder or in the database. */
export type EvidenceStore = {
  /** @throws Error if the key was used for other evidence of the session. */
  save: (evidence: NewEvidence) => Promise<EvidencePointer>;
  /** Lists the evidence of the session and of its sub-agents, oldest first. */
  list: (sessionId: string) => Promise<ListedEvidence[]>;
  /** Lists the newest of this evidence, at most `limit`, newest first. `total` is the number of all. */
  listNewest: (sessionId: string, limit: number) => Promise<{ total: number; evidence: ListedEvidence[] }>;
  /** Removes evidence of the session that was saved for something that was then refused. */
  discard: (sessionId: string, id: string) => Promise<void>;
  /** Returns evidence of the session or of one of its sub-agents, with the bytes; undefined if none has this id. */
  read: (sessionId: string, id: string) => Promise<StoredEvidence | undefined>;
};

/** Size limit of the evidence that is stored in the database if several processes can use it. Decision 062. */
export const SHARED_BYTES_MAX = 1_048_576;

/**
 * Creates the store. It writes bytes to `evidence/<session>/<id>` below the data folder, or to the database if there is
 * no data folder. The bytes are on disk before the row is written: a crash or a power failure can leave bytes without a
 * row, but not a row without bytes.
 *
 * @param options.isShared whether other processes, with data folders of their own, can use the database. Evidence of at
 * most {@link SHARED_BYTES_MAX} bytes is then in the database, so that every process can read it.
 * @param options.disk the free space that must stay on the disk of the data folder.
 */
export function createEvidenceStore(options: {
  db: Database;
  dataDir: string | undefined;
  isShared?: boolean;
  disk?: DiskFloor;
}): EvidenceStore {
  const { db, dataDir, isShared = false } = options;
  const disk = options.disk ?? (dataDir === undefined ? undefined : createDiskFloor(dataDir, 0));

  /** @throws DiskFullError if the disk has too little free space. */
  async function storeFile(folder: string, path: string, bytes: Uint8Array): Promise<void> {
    await disk?.check(bytes.byteLength);
    await writeDurably(folder, path, bytes);
  }

  return {
    async save({ bytes, key, ...fields }) {
      // Each attempt writes a file of its own, so a repeat cannot damage the file of the first attempt.
      const name = newId("evi");
      const path = `${evidenceFolder(fields.sessionId)}/${name}`;
      const id = key === undefined ? name : deriveId("evi", fields.sessionId, key);
      const row = { id, ...fields, sizeBytes: bytes.byteLength };
      if (dataDir === undefined || (isShared && bytes.byteLength <= SHARED_BYTES_MAX)) {
        if (!(await insertEvidence(db, row, { bytes }))) await checkSame(db, row);
        return toPointer(row);
      }
      await storeFile(dataDir, path, bytes);
      let isStored = false;
      try {
        isStored = await insertEvidence(db, row, { path });
      } finally {
        if (!isStored) await rm(join(dataDir, path), { force: true });
      }
      if (!isStored) await checkSame(db, row);
      return toPointer(row);
    },

    async list(sessionId) {
      return (await listEvidence(db, sessionId)).map(toListed);
    },

    async listNewest(sessionId, limit) {
      const { rows, total } = await listNewestEvidence(db, sessionId, limit);
      return { total, evidence: rows.map(toListed) };
    },

    async discard(sessionId, id) {
      const row = await findEvidence(db, sessionId, id);
      if (!row) return;
      await deleteEvidence(db, [row]);
      if (dataDir !== undefined && !isInDatabase(row.path))
        await rm(join(dataDir, row.path), { force: true });
    },

    async read(sessionId, id) {
      const row = await findEvidence(db, sessionId, id);
      return row && { pointer: toPointer(row), bytes: await loadBytes(options, row) };
    },
  };
}

/** @throws Error if the stored row with the same id is about other evidence. */
async function checkSame(
  db: Database,
  row: Pick<EvidenceRow, keyof EvidencePointer | "sessionId" | "sizeBytes">,
): Promise<void> {
  const stored = await findEvidence(db, row.sessionId, row.id);
  // Evidence that was removed meanwhile was stored all the same.
  if (!stored) return;
  const toText = (each: typeof row) => JSON.stringify([toPointer(each), each.sessionId, each.sizeBytes]);
  if (toText(stored) !== toText(row)) throw new Error("another piece of evidence was saved with this key");
}

const toListed = (row: EvidenceRow): ListedEvidence => ({
  ...toPointer(row),
  sizeBytes: row.sizeBytes,
  createdAt: row.createdAt.toISOString(),
});

/**
 * Removes the files of a session's evidence. The rows are deleted together with the session's row, not here.
 * @throws RemovalError if something could not be removed.
 */
export const removeEvidenceFiles = (dataDir: string, sessionId: string): Promise<void> =>
  removeFolder(join(dataDir, evidenceFolder(sessionId)));

/**
 * Returns the path of a session's folder, relative to the data folder.
 * @throws Error if `sessionId` is not a valid id, because the id becomes part of a path.
 */
function evidenceFolder(sessionId: string): string {
  if (!SESSION_ID_PATTERN.test(sessionId)) throw new Error(`${sessionId} is not a session id`);
  return `evidence/${sessionId}`;
}

const toPointer = ({
  id,
  kind,
  title,
  url,
  mediaType,
}: Pick<EvidenceRow, keyof EvidencePointer>): EvidencePointer => ({ id, kind, title, url, mediaType });

/**
 * Reads the bytes of a row. @returns undefined if the file is not there, or cannot be read, or is not complete: whatever
 * happened to a file, its evidence is missing, but nothing fails because of it.
 */
async function loadBytes(
  { db, dataDir }: { db: Database; dataDir: string | undefined },
  { path, sizeBytes }: EvidenceRow,
): Promise<Uint8Array | undefined> {
  if (isInDatabase(path)) return readBytes(db, path);
  if (dataDir === undefined) return undefined;
  const bytes = await readFile(join(dataDir, path)).catch((error: unknown) => {
    if (readErrorCode(error) === undefined) throw error;
    return undefined;
  });
  return bytes?.byteLength === sizeBytes ? bytes : undefined;
}
