import { z } from "zod";
import { importSummarySchema } from "#lib/events/event-schemas.ts";
import {
  DOCUMENT_LIMITS,
  exportedMessageSchema,
  leftOutSchema,
  sessionExportSchema,
} from "#lib/porting/format.ts";
import { readDocument } from "#lib/porting/read-document.ts";
import {
  AS_FOR_KEYS,
  DRIVER_AUTH,
  defineOperation,
  KEY_AUTH,
  type Operation,
  READER_AUTH,
  VISITOR_AUTH,
} from "../operation.ts";
import { listOf, success } from "../schemas/answers.ts";
import { listQuerySchema, messageListQuerySchema } from "../schemas/queries.ts";

/** Query of the export of a session. Source: `wire.md`, Export and import of a session. */
const sessionExportQuerySchema = z.object({
  format: z.enum(["json", "html"]).default("json").meta({
    description: "`json`: format version 1, which can be imported. `html`: one file for people to read.",
  }),
  evidence: z.enum(["true", "false"]).default("false").meta({
    description:
      "Whether the JSON contains the bytes of evidence as data URLs, at most 20 MiB in total. The HTML always contains its pictures.",
  }),
});

/**
 * The body of an import. A transform of this schema reads the document, so that a large document is read in the worker
 * thread that validates bodies. If the document has a flaw, the transform returns the flaw as a value and not as a Zod
 * issue, because the flaw's sentence already names the field.
 */
const importBodySchema = z.unknown().transform(readDocument);

const importBodyShownSchema = z.looseObject({}).meta({
  description:
    "The JSON export of a session or of a variant, or a document of GrowthBook or PostHog. At most 10 MiB.",
  examples: [{ format: "agent-session", version: 1, id: "ses_xdbqydi2z2jnnberubbghcrn@57" }],
});

const documentImportedSchema = z
  .object({
    success,
    import: importSummarySchema,
    leftOut: z.array(leftOutSchema),
  })
  .meta({ id: "DocumentImported", description: "The result of an import into the session." });

const importDetailSchema = z
  .object({
    success,
    import: importSummarySchema,
    leftOut: z.array(leftOutSchema),
    data: z.array(exportedMessageSchema).meta({ description: "Messages of the conversation, oldest first." }),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: "ImportDetail", description: "An import with a page of its conversation." });

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
