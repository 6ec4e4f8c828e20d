import { z } from "zod";
import { variantSummarySchema } from "#lib/events/outcome-schemas.ts";
import { jsonValue } from "#lib/events/wire-values.ts";
import { httpUrlUpTo } from "#lib/text/http-url.ts";
import { variantKeySchema } from "#lib/variant/document.ts";
import { JSON_FORMATS } from "#lib/variant/formats/index.ts";
import { defineOperation, MIB, type Operation, PUBLISHER_AUTH, READER_AUTH } from "../operation.ts";
import { success } from "../schemas/answers.ts";
import { VARIANT } from "./releases.ts";

const format = z.enum(JSON_FORMATS);

/** Query of the export of a revision. Source: `wire.md`, Exports and imports. */
const exportQuerySchema = z.object({
  format: z
    .enum(["script", ...JSON_FORMATS])
    .default("json")
    .meta({
      description:
        "`script`: one JavaScript file that works without this service. `json`: the format of this service. `growthbook`, `posthog`: the format of that tool.",
    }),
});

const exportedSchema = z
  .object({
    success,
    format,
    variant: variantKeySchema,
    revision: z.int().meta({ description: "Number of the revision.", examples: [3] }),
    document: jsonValue.meta({ description: "The variant in the requested format." }),
    omitted: z
      .array(
        z.object({
          changeId: z
            .string()
            .nullable()
            .meta({
              description:
                "Id of the change. Null if the part is a page's style sheet, script or URL pattern.",
              examples: ["c2"],
            }),
          url: z
            .string()
            .meta({ description: "`url` of the entry in the variant's `pages` that contains the part." }),
          reason: z.string().meta({ examples: ["GrowthBook cannot move an element to the end of another."] }),
        }),
      )
      .meta({ description: "Parts of the revision that the format cannot represent.", examples: [[]] }),
  })
  .meta({ id: "ExportedVariant", description: "A revision in a format of this service or of another tool." });

const importSchema = z.strictObject({
  format,
  document: jsonValue.meta({
    description:
      "A variant's JSON export of this service (the whole response or only its `document`), GrowthBook's visual changesets or SDK payload, or PostHog's web experiments.",
  }),
  baseRevision: z
    .int({ error: "must be a whole number" })
    .min(0, { error: "must be at least 0" })
    .default(0)
    .meta({
      description:
        "Number of the variant's newest revision, whose content the import replaces. 0 for a variant that does not exist yet. Any other number is refused with 409.",
    }),
  url: httpUrlUpTo(8_192).optional().meta({
    description:
      "URL of the page to apply changes to whose own URL pattern has no equivalent in this service.",
  }),
  experiment: z.string().max(500).optional().meta({
    description:
      "Key, id or name of the experiment to import. Default: the first experiment that has changes.",
  }),
  variation: z.string().max(500).optional().meta({
    description:
      "Key, name or number of the variation to import. Default: the first variation other than the control that has changes.",
  }),
});

const importedSchema = z
  .object({
    success,
    variant: variantSummarySchema,
    omitted: z
      .array(z.string())
      .meta({ description: "Parts of the document that the variant does not contain, one sentence each." }),
  })
  .meta({ id: "ImportedVariant", description: "The variant after an import." });

export const exportOperations = {
  exportRevision: defineOperation({
    method: "GET",
    path: `${VARIANT}/revisions/:revision/export`,
    summary: "Export a revision",
    description:
      "Exports a revision of a variant. With `format=script`, the response is a JavaScript file; otherwise it is JSON with the revision in `document`, and `omitted` lists the parts that the format cannot represent.",
    auth: READER_AUTH,
    rate: "poll",
    query: exportQuerySchema,
    answers: { 200: exportedSchema },
    media: { 200: ["text/javascript"] },
    answerHeaders: { 200: ["Content-Disposition"] },
  }),
  importVariant: defineOperation({
    method: "POST",
    path: `${VARIANT}/import`,
    summary: "Import a variant",
    description:
      "Stores the imported document as a new revision on behalf of a person. The revision replaces the content of the variant; if the variant does not exist, the import creates it. Returns 409 if `baseRevision` is not the newest revision. If no part of the document can be imported, returns 400 and changes nothing.",
    auth: PUBLISHER_AUTH,
    rate: "act",
    body: importSchema,
    bodyBytesMax: 2 * MIB,
    errors: ["conflict"],
    answers: { 201: importedSchema },
  }),
} as const satisfies Record<string, Operation>;
