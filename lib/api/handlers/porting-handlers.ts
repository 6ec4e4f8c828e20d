import { importDocument, summarizeImport } from "#lib/porting/import-document.ts";
import { findImport, listImportedMessages, listImports as readImports } from "#lib/porting/import-store.ts";
import { fileNameOf, openExport } from "#lib/porting/open-export.ts";
import { toExportedMessage } from "#lib/porting/read-content.ts";
import { findRootOf } from "#lib/session/store/session-tree-store.ts";
import { attachment } from "../http/attachment.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import { cutPage, readRange, unknownCursor } from "./list-handlers.ts";
import type { ApiServices } from "./services.ts";

const PAGE = 50;
const MEDIA_TYPES = { json: "application/json", html: "text/html; charset=utf-8" };

/** `GET …/export`: exports the session. The response is streamed, because a session may be long. */
async function exportSession(
  { porting }: ApiServices,
  { session, query }: CallOf<"exportSession" | "exportAsPerson">,
): Promise<Answer> {
  const { format } = query;
  const body = await openExport(porting, session, { format, hasBytes: query.evidence === "true" });
  return new Response(body, {
    headers: {
      "Content-Type": MEDIA_TYPES[format],
      "Content-Disposition": attachment(fileNameOf(session, format)),
      "Content-Security-Policy":
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox",
      "X-Content-Type-Options": "nosniff",
    },
  });
}

/** `POST …/import`: returns 201 with a summary of the import, or 200 if the same document was imported before. */
async function importIntoSession(
  { porting }: ApiServices,
  { params, body }: CallOf<"importIntoSession" | "importAsPerson">,
): Promise<Answer> {
  if (!body.ok) return fail("invalid_request", body.problem);
  const imported = await importDocument(porting, {
    sessionId: params.sessionId,
    plan: body.plan,
    author: "person",
    requestId: null,
    runId: null,
    callId: null,
  });
  if (!imported.ok) return fail(imported.reason === "unknown" ? "not_found" : "conflict", imported.problem);
  const { isNew, summary, leftOut } = imported;
  return { ok: true, status: isNew ? 201 : 200, body: { success: true, import: summary, leftOut } };
}

/** `GET …/imports`: lists imports, newest first. For a sub-agent, lists the imports of its root session. */
async function listImports({ db }: ApiServices, { params, query }: CallOf<"listImports">): Promise<Answer> {
  const range = readRange(query);
  if (!range) return unknownCursor();
  const rows = await readImports(db, await findRootOf(db, params.sessionId), range);
  const { page, nextCursor } = cutPage(rows, range, (row) => row);
  return { ok: true, status: 200, body: { success: true, data: page.map(summarizeImport), nextCursor } };
}

/**
 * `GET …/imports/:importId`: returns an import of the session; for a sub-agent, an import of its root session. The
 * cursor is the position of the last message on the page.
 */
async function readImport({ db }: ApiServices, { params, query }: CallOf<"readImport">): Promise<Answer> {
  const row = await findImport(db, await findRootOf(db, params.sessionId), params.importId);
  if (!row) return fail("not_found", "no such import");
  const limit = query.limit ?? PAGE;
  const rows = await listImportedMessages(db, row.id, { after: query.cursor ?? 0, limit: limit + 1 });
  const page = rows.slice(0, limit);
  return {
    ok: true,
    status: 200,
    body: {
      success: true,
      import: summarizeImport(row),
      leftOut: row.leftOut,
      data: page.map(toExportedMessage),
      nextCursor: rows.length > limit ? String(page.at(-1)?.position) : null,
    },
  };
}

export const portingHandlers = {
  exportSession,
  exportAsPerson: exportSession,
  importIntoSession,
  importAsPerson: importIntoSession,
  listImports,
  readImport,
} satisfies Partial<Handlers>;
