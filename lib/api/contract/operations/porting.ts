import { importSummarySchema } from "#lib/events/event-schemas.ts";
import { DOCUMENT_LIMITS, sessionExportSchema } from "#lib/porting/format.ts";
import {
  AS_FOR_KEYS,
  DRIVER_AUTH,
  defineOperation,
  KEY_AUTH,
  type Operation,
  READER_AUTH,
  VISITOR_AUTH,
} from "../operation.ts";
import { listOf } from "../schemas/answers.ts";
import {
  documentImportedSchema,
  importBodySchema,
  importBodyShownSchema,
  importDetailSchema,
  sessionExportQuerySchema,
} from "../schemas/porting.ts";
import { listQuerySchema, messageListQuerySchema } from "../schemas/queries.ts";

const exporting = {
  method: "GET",
  query: sessionExportQuerySchema,
  answers: { 200: sessionExportSchema },
  media: { 200: ["text/html"] },
  answerHeaders: { 200: ["Content-Disposition"] },
} as const;

const importing = {
  method: "POST",
  rate: "act",
  body: importBodySchema,
  bodyShownAs: importBodyShownSchema,
  bodyBytesMax: DOCUMENT_LIMITS.bytesMax,
  errors: ["conflict"],
  answers: { 201: documentImportedSchema, 200: documentImportedSchema },
} as const;

/** Operations that export and import sessions as files. Source: `wire.md`, Export and import of a session. */
export const portingOperations = {
  exportSession: defineOperation({
    ...exporting,
    path: "/api/sessions/:sessionId/export",
    summary: "Export a session",
    description:
      "Downloads the session as one file. The JSON has its conversation, the newest revision of each variant, results, previews, annotations, sub-agents and evidence; `leftOut` lists the parts that are missing. The HTML presents the same content for people, in one file without scripts or network access. Neither format contains credentials, headers, callbacks, share links, the system prompt or metadata. The response is streamed.",
    auth: KEY_AUTH,
    rate: "poll",
  }),
  exportAsPerson: defineOperation({
    ...exporting,
    path: "/s/:sessionId/actions/export",
    summary: "Export a session from the session page",
    description: AS_FOR_KEYS,
    auth: VISITOR_AUTH,
    rate: "act",
  }),
  importIntoSession: defineOperation({
    ...importing,
    path: "/api/sessions/:sessionId/import",
    summary: "Import a document into a session",
    description:
      "Imports an export of a session or of a variant, or a document of GrowthBook or PostHog. The document's variants become new variants; if a key is taken, a number is appended to it. The document's conversation can be read at `imports/:importId`, and the agent can read it too. The document is validated as a whole before anything is stored. Returns 200 without a change if the document was imported before. `leftOut` lists the parts that were not imported.",
    auth: KEY_AUTH,
  }),
  importAsPerson: defineOperation({
    ...importing,
    path: "/s/:sessionId/actions/import",
    summary: "Import a document from the session page",
    description: AS_FOR_KEYS,
    auth: DRIVER_AUTH,
    requiresJsonType: true,
  }),
  listImports: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/imports",
    summary: "List imports, newest first",
    auth: READER_AUTH,
    rate: "poll",
    query: listQuerySchema,
    answers: { 200: listOf(importSummarySchema) },
  }),
  readImport: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/imports/:importId",
    summary: "Read an import and its conversation",
    auth: READER_AUTH,
    rate: "poll",
    query: messageListQuerySchema,
    answers: { 200: importDetailSchema },
  }),
} as const satisfies Record<string, Operation>;
