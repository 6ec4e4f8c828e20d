import { z } from "zod";
import { VARIANT_AUTHORS } from "#db/schema/unions.ts";
import { variantSummarySchema } from "#lib/events/event-schemas.ts";
import { timestamp } from "#lib/events/wire-values.ts";
import { checkReportSchema } from "#lib/variant/check/check-report.ts";
import {
  changeIdSchema,
  discriminatorError,
  variantDocumentSchema,
  variantKeySchema,
} from "#lib/variant/document.ts";

const revision = z
  .int()
  .min(1)
  .meta({ description: "Number of the revision.", examples: [3] });

/** A revision of a variant. Source: `wire.md`, Variants. */
const variantRevisionSchema = z
  .object({
    variant: variantKeySchema,
    revision,
    author: z.enum(VARIANT_AUTHORS),
    createdAt: timestamp,
    isShown: z.boolean().meta({ description: "Whether the live browser shows the variant." }),
    document: variantDocumentSchema,
    check: checkReportSchema
      .nullable()
      .meta({ description: "Newest check of the revision. Null if the revision was not checked." }),
  })
  .meta({ id: "VariantRevision", description: "A revision of a variant." });

export const readRevisionSchema = z
  .object({ success: z.literal(true), revision: variantRevisionSchema })
  .meta({ id: "VariantRevisionRead", description: "A revision as it was stored, with its newest check." });

/** The edits that a person makes to a variant on the session page. */
export const variantEditSchema = z.strictObject({
  baseRevision: z.int().min(1).meta({
    description: "The revision that the edits apply to. Any revision but the newest is refused with 409.",
  }),
  edits: z
    .array(
      z.discriminatedUnion(
        "action",
        [
          z.strictObject({ action: z.literal("drop"), changeId: changeIdSchema }),
          z.strictObject({ action: z.literal("off"), changeId: changeIdSchema }),
          z.strictObject({ action: z.literal("on"), changeId: changeIdSchema }),
          z.strictObject({
            action: z.literal("setText"),
            changeId: changeIdSchema,
            text: z.string().max(20_000, { error: "must be at most 20,000 characters" }),
          }),
        ],
        { error: discriminatorError("drop", "off", "on", "setText") },
      ),
    )
    .min(1, { error: "must hold an edit" })
    .max(200, { error: "must hold at most 200 edits" }),
});

/** The response to a person's edit or check. */
export const variantEditedSchema = z
  .object({ success: z.literal(true), variant: variantSummarySchema })
  .meta({ id: "VariantAnswer", description: "A variant after a person's edit or check." });

/** The variant that the live browser shows. */
export const shownVariantSchema = z
  .object({
    success: z.literal(true),
    variant: variantKeySchema.nullable().meta({
      description: "Key of the variant. Null if the live browser shows the page without a variant.",
    }),
  })
  .meta({ id: "ShownVariant", description: "The variant that the live browser shows." });
