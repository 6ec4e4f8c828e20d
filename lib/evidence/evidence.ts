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
  readBytes,
} from "./evidence-store.ts";

/** A picture or saved page to keep. */
export type NewEvidence = {
  sessionId: string;
  runId: string | null;
  kind: EvidenceKind;
  title: string;
  /** Address of the page it shows. */
  url: string | null;
  mediaType: string;
  bytes: Uint8Array;
};

/** Where evidence is kept: a row in the database, the bytes in a file below the data folder, or there too. */
export type EvidenceStore = {
  save: (evidence: NewEvidence) => Promise<EvidencePointer>;
  list: (sessionId: string) => Promise<(EvidencePointer & { sizeBytes: number; createdAt: string })[]>;
  /** The bytes, or undefined where the session has no such evidence. */
  read: (
    sessionId: string,
    id: string,
  ) => Promise<{ pointer: EvidencePointer; bytes: Uint8Array } | undefined>;
};

/**
 * Keeps evidence in `evidence/<session>/<id>` below the data folder, or in the database where there is none. The bytes
 * are whole before their row exists, so that a crash leaves at most bytes nobody points to.
 */
export function createEvidenceStore(options: { db: Database; dataDir: string | undefined }): EvidenceStore {
  const { db, dataDir } = options;

  async function keep(path: string, bytes: Uint8Array): Promise<string> {
    if (dataDir === undefined) return insertBytes(db, bytes);
    await writeWhole(join(dataDir, path), bytes);
    return path;
  }
  async function forget(path: string): Promise<void> {
    if (isInDatabase(path)) await deleteBytes(db, path);
    else if (dataDir !== undefined) await rm(join(dataDir, path), { force: true });
  }
  async function find(path: string): Promise<Uint8Array> {
    if (isInDatabase(path)) return readBytes(db, path);
    if (dataDir === undefined)
      throw new Error(`${path} lies in a data folder that this process does not have`);
    return readFile(join(dataDir, path));
  }

  return {
    async save({ bytes, ...fields }) {
      const id = newId("evi");
      const path = await keep(`${evidenceFolder(fields.sessionId)}/${id}`, bytes);
      const row = { id, ...fields, sizeBytes: bytes.byteLength, path };
      try {
        await insertEvidence(db, row);
      } catch (error) {
        await forget(path);
        throw error;
      }
      return toPointer(row);
    },

    async list(sessionId) {
      const rows = await listEvidence(db, sessionId);
      return rows.map((row) => ({
        ...toPointer(row),
        sizeBytes: row.sizeBytes,
        createdAt: row.createdAt.toISOString(),
      }));
    },

    async read(sessionId, id) {
      const row = await findEvidence(db, sessionId, id);
      if (!row) return undefined;
      return { pointer: toPointer(row), bytes: await find(row.path) };
    },
  };
}

/**
 * Removes the files of a session's evidence; its rows go with the session's row.
 * @throws RemovalError when something could not be removed.
 */
export const removeEvidenceFiles = (dataDir: string, sessionId: string): Promise<void> =>
  removeFolder(join(dataDir, evidenceFolder(sessionId)));

/** @throws Error for an id that is not a session's: it names a folder. */
function evidenceFolder(sessionId: string): string {
  if (!SESSION_ID_PATTERN.test(sessionId)) throw new Error(`${sessionId} is no session id`);
  return `evidence/${sessionId}`;
}

const toPointer = ({
  id,
  kind,
  title,
  url,
  mediaType,
}: Pick<EvidenceRow, keyof EvidencePointer>): EvidencePointer => ({ id, kind, title, url, mediaType });

/** Writes a file that is either absent or complete, also after a power cut. */
async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
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
