import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Database } from "#db/client.ts";
import type { EvidenceKind } from "#db/schema/unions.ts";
import type { EvidencePointer } from "#lib/events/event.ts";
import { type EvidenceRow, findEvidence, insertEvidence, listEvidence } from "./evidence-store.ts";
import { newId, SESSION_ID_PATTERN } from "./new-id.ts";

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

/** Where evidence is kept: a row in the database, the bytes in a file below the data folder. */
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
 * Keeps evidence in `evidence/<session>/<id>` below the data folder. The file is whole before its row exists, so
 * that a crash leaves at most a file nobody points to.
 */
export function createEvidenceStore(options: { db: Database; dataDir: string }): EvidenceStore {
  const { db, dataDir } = options;
  return {
    async save({ bytes, ...fields }) {
      const id = newId("evi");
      const path = `${evidenceFolder(fields.sessionId)}/${id}`;
      await writeWhole(join(dataDir, path), bytes);
      const row = { id, ...fields, sizeBytes: bytes.byteLength, path };
      try {
        await insertEvidence(db, row);
      } catch (error) {
        await rm(join(dataDir, path), { force: true });
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
      return { pointer: toPointer(row), bytes: await readFile(join(dataDir, row.path)) };
    },
  };
}

/** Removes the files of a session's evidence; its rows go with the session's row. */
export async function removeEvidenceFiles(dataDir: string, sessionId: string): Promise<void> {
  await rm(join(dataDir, evidenceFolder(sessionId)), { recursive: true, force: true });
}

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
