import { z } from "zod";
import {
  AGENT_OUTCOMES,
  CALL_REFUSALS,
  CHECK_STATUSES,
  EVIDENCE_KINDS,
  IMPORT_FORMATS,
  MESSAGE_ROLES,
  SESSION_STATES,
  SOURCES,
  TOOL_CALL_STATES,
  VARIANT_AUTHORS,
} from "#db/schema/unions.ts";
import { deliverableSchema, previewSchema } from "#lib/events/event-schemas.ts";
import { publicationSchema } from "#lib/events/outcome-schemas.ts";
import { count, jsonValue } from "#lib/events/wire-values.ts";
import { REQUIREMENT_LIMITS } from "#lib/planning/requirement.ts";
import { REPORT_LIMITS } from "#lib/reports/report.ts";
import { VARIANT_LIMITS, variantDocumentSchema, variantKeySchema } from "#lib/variant/document.ts";
import { DOCUMENT_LIMITS, id, line, list, time } from "./format-values.ts";
import {
  exportedPageSchema,
  exportedPlanSchema,
  exportedReportSchema,
  exportedRequirementSchema,
} from "./format-work.ts";

// Schemas for the JSON export of a session, format version 1. Exports have this shape, and imports are validated
// against it.
// Source: `wire.md`, Export and import of a session.

export { DOCUMENT_LIMITS };

export const SESSION_FORMAT = "agent-session";
export const SESSION_FORMAT_VERSION = 1;

/** The result of a tool call. A long text is cut off. */
const toolResultSchema = z
  .strictObject({
    toolCallId: id.meta({ examples: ["call_h3k7pq"] }),
    toolName: id.meta({ examples: ["dom_query"] }),
    state: z.enum(TOOL_CALL_STATES),
    refusal: z.enum(CALL_REFUSALS).optional().meta({
      description:
        "Why a `failed` call was not run. `plan_first`: a person has to agree to the plan first. `not_approved`: the call needs a person's approval, and has none. Absent for a call that was run.",
    }),
    text: z.string().meta({ description: "Start of the result, at most 2,000 characters." }),
    isCut: z.boolean().meta({ description: "Whether the text is cut off." }),
  })
  .meta({ id: "ExportedToolResult", description: "Result of a tool call of the message." });
export type ExportedToolResult = z.infer<typeof toolResultSchema>;

export const exportedMessageSchema = z
  .strictObject({
    id: id.meta({ examples: ["msg_k2m4zqvbwcnr7xye3hjpdtas"] }),
    role: z.enum(MESSAGE_ROLES),
    parts: list(z.looseObject({ type: id })).meta({
      description:
        "Parts of the message. `type` determines the fields of a part: `text` and `reasoning` have a `text`; `tool-call` has `toolCallId`, `toolName` and `input`; `data-deliverable` has the deliverable as `data`; `attachment` is a file that was attached to the message, which the export does not contain; `annotation` is an annotation of the page that was sent with the message, and has its `annotationId`, a `text` and, if there was a picture of it, its `evidenceId`, which the export does not contain.",
      examples: [[{ type: "text", text: "The checkout asks for an email address." }]],
    }),
    results: list(toolResultSchema).meta({ description: "Results of the message's tool calls." }),
    author: line.nullable().meta({
      description:
        "Always null, because an export does not name users. Earlier versions exported the message's `userId`; an import leaves it out.",
    }),
    createdAt: time,
  })
  .meta({ id: "ExportedMessage", description: "A message of a conversation." });

/**
 * Schemas of the message parts that an import accepts, by the `type` of the part. An import leaves out all other parts
 * and lists them in `leftOut`.
 */
export const PART_SCHEMAS: Record<string, z.ZodType> = {
  text: z.strictObject({ type: z.literal("text"), text: z.string() }),
  reasoning: z.strictObject({ type: z.literal("reasoning"), text: z.string() }),
  "tool-call": z.strictObject({
    type: z.literal("tool-call"),
    toolCallId: id,
    toolName: id,
    input: z.unknown().optional(),
  }),
  "data-deliverable": z.strictObject({ type: z.literal("data-deliverable"), data: z.unknown() }),
  attachment: z.strictObject({
    type: z.literal("attachment"),
    path: z.string().max(1_024),
    mediaType: line,
    sizeBytes: count,
    evidenceId: id.nullable(),
  }),
  annotation: z.strictObject({
    type: z.literal("annotation"),
    annotationId: id,
    text: z.string(),
    evidenceId: id.optional(),
  }),
};

const exportedVariantSchema = z
  .strictObject({
    key: variantKeySchema,
    revision: z
      .int()
      .min(1)
      .meta({ description: "Number of the newest revision.", examples: [3] }),
    author: z.enum(VARIANT_AUTHORS),
    createdAt: time,
    document: variantDocumentSchema,
    check: z.strictObject({ status: z.enum(CHECK_STATUSES), at: time }).nullable(),
    publication: publicationSchema.nullable(),
  })
  .meta({ id: "ExportedSessionVariant", description: "The newest revision of a variant." });

const exportedEvidenceSchema = z
  .strictObject({
    id,
    kind: z.enum(EVIDENCE_KINDS),
    title: z.string(),
    url: z.string().nullable(),
    mediaType: line,
    sizeBytes: count,
    createdAt: time,
    data: z.string().startsWith("data:", { error: "must be a data URL" }).optional().meta({
      description:
        "The bytes as a data URL. Present only if the export was requested with `evidence=true`, for at most 20 MiB of evidence in total.",
    }),
  })
  .meta({ id: "ExportedEvidence", description: "A picture, page or file that a tool stored." });

const exportedAgentSchema = z
  .strictObject({
    id,
    parentId: id,
    name: line,
    objective: z.string(),
    depth: z.int().min(1),
    status: z
      .enum(AGENT_OUTCOMES)
      .nullable()
      .meta({ description: "Outcome of the sub-agent. Null while it works." }),
    result: z.string().nullable().meta({
      description: "Start of the result as JSON text, at most 4,096 characters. Null if there is no result.",
    }),
    isResultCut: z.boolean(),
  })
  .meta({ id: "ExportedAgent", description: "A sub-agent. Its session can be exported separately." });

const exportedSessionSchema = z.strictObject({
  id,
  title: z.string(),
  source: z.enum(SOURCES),
  createdAt: time,
  state: z.enum(SESSION_STATES),
  stateReason: z.string().nullable(),
  targetUrl: z.string().nullable(),
  targetPageUrls: list(z.string()),
  outputSchema: z.record(z.string(), jsonValue).nullable(),
  capabilities: z.strictObject({ browser: z.boolean(), sandbox: z.boolean() }),
  subAgents: z.boolean(),
  skills: list(z.strictObject({ name: line, version: line })).meta({
    description: "The skills that the session was created with, and the SHA-256 of each.",
  }),
});

export const leftOutSchema = z
  .strictObject({
    field: z
      .string()
      .meta({ description: "Path or name of the part that was left out.", examples: ["variants[0].check"] }),
    reason: z.string().meta({
      examples: ["A check is only valid for the page at that time; check the variant again."],
    }),
  })
  .meta({ id: "LeftOut", description: "A part of a document that was left out, and why." });
export type LeftOut = z.infer<typeof leftOutSchema>;

const exportedImportSchema = z
  .strictObject({
    id,
    documentId: id,
    format: z.enum(IMPORT_FORMATS),
    title: z.string().nullable(),
    sourceSessionId: line.nullable(),
    createdAt: time,
    messages: list(exportedMessageSchema, DOCUMENT_LIMITS.messagesMax),
  })
  .meta({ id: "ExportedImport", description: "A document that was imported into the session." });

/**
 * The JSON export of a session. Unknown top-level fields are accepted, because later versions of the service may write
 * such fields.
 */
export const sessionExportSchema = z
  .looseObject({
    format: z.literal(SESSION_FORMAT),
    version: z.literal(SESSION_FORMAT_VERSION),
    id: id.max(200, { error: "must be at most 200 characters" }).meta({
      description:
        "Built from the id of the session and the number of its last event, so exports of an unchanged session have the same id.",
      examples: ["ses_xdbqydi2z2jnnberubbghcrn@57"],
    }),
    exportedAt: time,
    session: exportedSessionSchema,
    messages: list(exportedMessageSchema, DOCUMENT_LIMITS.messagesMax),
    variants: list(exportedVariantSchema, VARIANT_LIMITS.variantsMax),
    plan: exportedPlanSchema
      .nullable()
      .meta({ description: "The plan. Null if it was never written, and in the export of a sub-agent." }),
    requirements: list(exportedRequirementSchema, REQUIREMENT_LIMITS.perSession),
    reports: list(exportedReportSchema, REPORT_LIMITS.reports),
    pages: list(exportedPageSchema),
    deliverables: list(deliverableSchema),
    receipts: list(z.looseObject({ runId: id, receipts: z.array(z.looseObject({})) }))
      .optional()
      .meta({
        description:
          "Where the values of the results are, as the service answers it. Absent in exports of earlier versions.",
      }),
    previews: list(previewSchema),
    annotations: list(z.looseObject({ id, event: z.string(), createdAt: time })),
    agents: list(exportedAgentSchema),
    imports: list(exportedImportSchema),
    evidence: list(exportedEvidenceSchema),
    leftOut: list(leftOutSchema),
  })
  .meta({
    id: "SessionExport",
    description:
      "A session as a file, format version 1. The export of a sub-agent has no variants, plan, requirements and previews: they belong to its root session.",
  });

export type SessionExport = z.infer<typeof sessionExportSchema>;
export type ExportedMessage = SessionExport["messages"][number];
export type ExportedVariant = SessionExport["variants"][number];
export type ExportedEvidence = SessionExport["evidence"][number];
export type ExportedAgent = SessionExport["agents"][number];
export type ExportedImport = SessionExport["imports"][number];
export type ExportedPlan = NonNullable<SessionExport["plan"]>;
export type ExportedRequirement = SessionExport["requirements"][number];
export type ExportedReport = SessionExport["reports"][number];
export type ExportedPage = SessionExport["pages"][number];
export type ExportedSession = SessionExport["session"];
