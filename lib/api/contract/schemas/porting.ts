import { z } from "zod";
import { importSummarySchema } from "#lib/events/event-schemas.ts";
import { exportedMessageSchema, leftOutSchema } from "#lib/porting/format.ts";
import { readDocument } from "#lib/porting/read-document.ts";

const success = z.literal(true);

/** Query of the export of a session. Source: `wire.md`, Export and import of a session. */
export const sessionExportQuerySchema = z.object({
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
export const importBodySchema = z.unknown().transform(readDocument);

export const importBodyShownSchema = z.looseObject({}).meta({
  description:
    "The JSON export of a session or of a variant, or a document of GrowthBook or PostHog. At most 10 MiB.",
  examples: [{ format: "agent-session", version: 1, id: "ses_xdbqydi2z2jnnberubbghcrn@57" }],
});

export const documentImportedSchema = z
  .object({
    success,
    import: importSummarySchema,
    leftOut: z.array(leftOutSchema),
  })
  .meta({ id: "DocumentImported", description: "The result of an import into the session." });

export const importDetailSchema = z
  .object({
    success,
    import: importSummarySchema,
    leftOut: z.array(leftOutSchema),
    data: z.array(exportedMessageSchema).meta({ description: "Messages of the conversation, oldest first." }),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: "ImportDetail", description: "An import with a page of its conversation." });
