import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Database } from "#db/client.ts";
import type { EvidenceKind } from "#db/schema/unions.ts";
import type { EvidencePointer } from "#lib/events/event.ts";
import { newId, SESSION_ID_PATTERN } from "#lib/session/new-id.ts";
import { removeFolder } from "#lib/session/removal/remove-folder.ts";
import {
  deleteBytes,
  type EvidenceRow,
  findEvidence,
  insertBytes,
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
};

/** Evidence as a list shows it, without its bytes. */
type ListedEvidence = EvidencePointer & { sizeBytes: number; createdAt: string };

/** Stores evidence: a row in the database, and the bytes either in a file below the data folder or in the database. */
export type EvidenceStore = {
  save: (evidence: NewEvidence) => Promise<EvidencePointer>;
  /** Lists the evidence of the session and of its sub-agents, oldest first. */
  list: (sessionId: string) => Promise<ListedEvidence[]>;
  /** Lists the newest of this evidence, at most `limit`, newest first. `total` is the number of all. */
  listNewest: (sessionId: string, limit: number) => Promise<{ total: number; evidence: ListedEvidence[] }>;
  /** Returns evidence of the session or of one of its sub-agents, with the bytes; undefined if none has this id. */
  read: (
    sessionId: string,
    id: string,
  ) => Promise<{ pointer: EvidencePointer; bytes: Uint8Array } | undefined>;
};

/**
 * Creates the store. It writes bytes to `evidence/<session>/<id>` below the data folder, or to the database if there is
 * no data folder. It writes the bytes before the row. A crash can therefore leave bytes without a row, but not a row
 * without bytes.
 */
export function createEvidenceStore(options: { db: Database; dataDir: string | undefined }): EvidenceStore {
  const { db, dataDir } = options;

  async function storeBytes(path: string, bytes: Uint8Array): Promise<string> {
    if (dataDir === undefined) return insertBytes(db, bytes);
    await writeAtomically(join(dataDir, path), bytes);
    return path;
  }
  async function removeBytes(path: string): Promise<void> {
    if (isInDatabase(path)) await deleteBytes(db, path);
    else if (dataDir !== undefined) await rm(join(dataDir, path), { force: true });
  }
  async function loadBytes(path: string): Promise<Uint8Array> {
    if (isInDatabase(path)) return readBytes(db, path);
    if (dataDir === undefined) throw new Error(`${path} is in a data folder, but this process has none`);
    return readFile(join(dataDir, path));
  }

  return {
    async save({ bytes, ...fields }) {
      const id = newId("evi");
      const path = await storeBytes(`${evidenceFolder(fields.sessionId)}/${id}`, bytes);
      const row = { id, ...fields, sizeBytes: bytes.byteLength, path };
      try {
        await insertEvidence(db, row);
      } catch (error) {
        await removeBytes(path);
        throw error;
      }
      return toPointer(row);
    },

    async list(sessionId) {
      return (await listEvidence(db, sessionId)).map(toListed);
    },

    async listNewest(sessionId, limit) {
      const { rows, total } = await listNewestEvidence(db, sessionId, limit);
      return { total, evidence: rows.map(toListed) };
    },

    async read(sessionId, id) {
      const row = await findEvidence(db, sessionId, id);
      if (!row) return undefined;
      return { pointer: toPointer(row), bytes: await loadBytes(row.path) };
    },
  };
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

/** Writes a file so that it is either absent or complete, even after a power failure. */
async function writeAtomically(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
