import { existsSync } from "node:fs";
import { join } from "node:path";
import { chooseDriver } from "#db/open-database.ts";
import { createEvidenceStore } from "#lib/evidence/evidence.ts";
import type { LeftOut } from "#lib/porting/format.ts";
import { importDocument } from "#lib/porting/import-document.ts";
import { fileNameOf, openExport } from "#lib/porting/open-export.ts";
import { readDocumentText } from "#lib/porting/read-document.ts";
import type { Env } from "#lib/server/env.ts";
import { createLogger } from "#lib/server/log.ts";
import { openStorage, type Storage } from "#lib/server/open-storage.ts";
import { readOrCreateSecrets } from "#lib/server/prepare-data-folder.ts";
import { findSession } from "#lib/session/store/session-store.ts";
import { createTranscriptReader } from "#lib/session/transcript/transcript.ts";

type ExportOptions = { format: "json" | "html"; hasBytes: boolean };
type Opened = { ok: true; name: string; body: ReadableStream<Uint8Array> } | Refused;
type Imported = {
  ok: true;
  isNew: boolean;
  id: string;
  variants: { from: string; key: string }[];
  messageCount: number;
  planItemCount: number;
  requirementCount: number;
  leftOut: LeftOut[];
};
type Refused = { ok: false; problem: string };

/** Exports and imports sessions for the operator. */
export type ExportClient = {
  openExport: (sessionId: string, options: ExportOptions) => Promise<Opened>;
  importDocument: (sessionId: string, bytes: Uint8Array<ArrayBuffer>) => Promise<Imported | Refused>;
  close: () => Promise<void>;
};

const NO_SESSION = "no such session";

/**
 * Opens the database that the settings name. If a running service owns the embedded database, returns a client of that
 * service instead.
 *
 * @param key an API key to call the service with. If undefined, the keys in the settings or the generated key are used.
 * @throws Error with a message for the user if there is no database. A service that does not answer is noticed only
 * later: the methods of the client then throw such an error.
 */
export async function openExportClient(env: Env, key: string | undefined): Promise<ExportClient> {
  const isEmbedded = chooseDriver(env.DATABASE_URL, env.DATABASE_DRIVER) === "embedded";
  if (isEmbedded && !existsSync(join(env.DATA_DIR, "postgres")))
    throw new Error(
      `there is no database in ${env.DATA_DIR}: run this with the service's own DATA_DIR, after its first start`,
    );
  try {
    return openAtDatabase(env, await openStorage(env, createLogger("fatal"), false));
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "DatabaseLockedError") throw error;
    return openAtService(env, key, error.message);
  }
}

function openAtDatabase(env: Env, storage: Storage): ExportClient {
  const { db, log, dataDir } = storage;
  const deps = {
    db,
    log,
    evidence: createEvidenceStore({ db, dataDir }),
    transcript: createTranscriptReader({ db }),
    sandbox: {
      open: () => Promise.reject(new Error("a command has no workspaces")),
    },
    baseUrl: env.baseUrl,
    pagesOrigin: env.pagesOrigin,
    importBytes: env.importBytes,
  };
  return {
    close: storage.close,
    async openExport(sessionId, options) {
      const session = await findSession(db, sessionId);
      if (!session) return { ok: false, problem: NO_SESSION };
      return {
        ok: true,
        name: fileNameOf(session, options.format),
        body: await openExport(deps, session, options),
      };
    },
    async importDocument(sessionId, bytes) {
      const read = readDocumentText(bytes);
      if (!read.ok) return read;
      const by = { author: "person", requestId: null, runId: null, callId: null } as const;
      const imported = await importDocument(deps, { sessionId, plan: read.plan, ...by });
      if (!imported.ok) return imported;
      const { isNew, summary, leftOut } = imported;
      return { ok: true, isNew, leftOut, ...summary };
    },
  };
}

async function openAtService(env: Env, key: string | undefined, whyLocked: string): Promise<ExportClient> {
  const configured = env.SERVICE_API_KEYS.map((each) => each.key);
  const keys =
    key !== undefined
      ? [key]
      : configured.length > 0
        ? configured
        : [(await readOrCreateSecrets(env.DATA_DIR)).apiKey];

  /**
   * Makes the call with one key after another until the answer is not 404. The service answers 404 if the key has no
   * access to the session.
   */
  async function ask(method: string, path: string, body?: Uint8Array<ArrayBuffer>): Promise<Response> {
    let answer: Response | undefined;
    for (const each of keys) {
      const headers = { authorization: `Bearer ${each}`, "content-type": "application/json" };
      answer = await fetch(new URL(path, env.ownOrigin), { method, headers, ...(body && { body }) }).catch(
        () => {
          throw new Error(
            `${whyLocked}, and the service does not answer at ${env.ownOrigin}: run this command with the service's PORT and HOST, or stop the service first`,
          );
        },
      );
      if (answer.status !== 404) return answer;
    }
    if (!answer) throw new Error("there is no API key to call the running service with: give one with --key");
    return answer;
  }
  return {
    close: async () => {},
    async openExport(sessionId, { format, hasBytes }) {
      const query = `format=${format}&evidence=${hasBytes}`;
      const answer = await ask("GET", `/api/sessions/${encodeURIComponent(sessionId)}/export?${query}`);
      if (!answer.ok || !answer.body) return readRefusal(answer);
      const [, name] = /filename="([\w.-]+)"/.exec(answer.headers.get("content-disposition") ?? "") ?? [];
      return { ok: true, name: name ?? `${sessionId}.session.${format}`, body: answer.body };
    },
    async importDocument(sessionId, bytes) {
      const answer = await ask("POST", `/api/sessions/${encodeURIComponent(sessionId)}/import`, bytes);
      if (!answer.ok) return readRefusal(answer);
      // The cast is safe: the contract defines the type of the answer.
      const { import: summary, leftOut } = (await answer.json()) as {
        import: Omit<Imported, "ok" | "isNew" | "leftOut">;
        leftOut: LeftOut[];
      };
      return { ok: true, isNew: answer.status === 201, ...summary, leftOut };
    },
  };
}

async function readRefusal(answer: Response): Promise<Refused> {
  const body = (await answer.json().catch(() => ({}))) as { error?: string };
  return { ok: false, problem: body.error ?? `the service responded with status ${answer.status}` };
}
