import { z } from "zod";
import { VARIANT_AUTHORS } from "#db/schema/unions.ts";
import { previewSchema } from "#lib/events/event-schemas.ts";
import { variantSummarySchema } from "#lib/events/outcome-schemas.ts";
import { timestamp } from "#lib/events/wire-values.ts";
import { checkOptionsSchema } from "#lib/variant/check/check-options.ts";
import { checkReportSchema } from "#lib/variant/check/check-report.ts";
import {
  changeIdSchema,
  discriminatorError,
  variantDocumentSchema,
  variantKeySchema,
} from "#lib/variant/document.ts";
import { DRIVER_AUTH, defineOperation, MIB, type Operation, READER_AUTH } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";

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

const readRevisionSchema = z
  .object({ success: z.literal(true), revision: variantRevisionSchema })
  .meta({ id: "VariantRevisionRead", description: "A revision as it was stored, with its newest check." });

/** The edits that a person makes to a variant on the session page. */
const variantEditSchema = z.strictObject({
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
const variantEditedSchema = z
  .object({ success: z.literal(true), variant: variantSummarySchema })
  .meta({ id: "VariantAnswer", description: "A variant after a person's edit or check." });

/** The variant that the live browser shows. */
const shownVariantSchema = z
  .object({
    success: z.literal(true),
    variant: variantKeySchema.nullable().meta({
      description: "Key of the variant. Null if the live browser shows the page without a variant.",
    }),
  })
  .meta({ id: "ShownVariant", description: "The variant that the live browser shows." });

/** Operations on the variants and previews of a session. Source: `wire.md`, Variants. */
export const variantOperations = {
  listVariants: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/variants",
    summary: "List variants",
    description:
      "Lists the variants of the session with the state of their newest revisions. For a sub-agent, lists the variants of its root session.",
    auth: READER_AUTH,
    rate: "poll",
    answers: { 200: listOf(variantSummarySchema) },
  }),
  readRevision: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/variants/:variantKey/revisions/:revision",
    summary: "Read a revision with its newest check",
    auth: READER_AUTH,
    rate: "poll",
    answers: { 200: readRevisionSchema },
  }),
  listPreviews: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/previews",
    summary: "List previews",
    auth: READER_AUTH,
    rate: "poll",
    answers: { 200: listOf(previewSchema) },
  }),
  editVariant: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/variants/:variantKey/revisions",
    summary: "Edit a variant from the session page",
    description:
      "Applies edits to the newest revision and stores the result as a new revision. Returns 200 without a new revision if the edits change nothing, and 409 if `baseRevision` is not the newest revision.",
    auth: DRIVER_AUTH,
    rate: "act",
    body: variantEditSchema,
    bodyBytesMax: MIB,
    requiresJsonType: true,
    errors: ["conflict"],
    answers: { 201: variantEditedSchema, 200: variantEditedSchema },
  }),
  checkAsPerson: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/variants/:variantKey/check",
    summary: "Check the newest revision from the session page",
    description:
      "Checks the newest revision in a browser, and returns when the report is stored, after at most five minutes. Without a body, the default of every field applies. Returns 409 if another check that a person started is in progress in the session, or if the check could not be completed.",
    bodyExamples: {
      "Open a menu first": {
        pages: [{ url: "https://shop.example/checkout", open: [{ click: "#menu" }] }],
      },
    },
    auth: DRIVER_AUTH,
    rate: "act",
    body: checkOptionsSchema,
    bodyBytesMax: 64 * 1024,
    requiresJsonType: true,
    isBodyOptional: true,
    errors: ["conflict"],
    answers: { 200: variantEditedSchema },
  }),
  showVariant: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/shown-variant",
    summary: "Switch the variant in the live browser on or off",
    description:
      "Sets the variant that the live browsers of the session and of its sub-agents show. Published scripts do not change.",
    auth: DRIVER_AUTH,
    rate: "act",
    body: z.strictObject({
      variant: variantKeySchema
        .nullable()
        .meta({ description: "Key of the variant to show. Null shows the page without a variant." }),
    }),
    bodyBytesMax: 64 * 1024,
    requiresJsonType: true,
    answers: { 200: shownVariantSchema },
  }),
} as const satisfies Record<string, Operation>;
