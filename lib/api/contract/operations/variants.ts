import { z } from "zod";
import { previewSchema, variantSummarySchema } from "#lib/events/event-schemas.ts";
import { checkOptionsSchema } from "#lib/variant/check/check-options.ts";
import { variantKeySchema } from "#lib/variant/document.ts";
import { DRIVER_AUTH, defineOperation, MIB, type Operation, READER_AUTH } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";
import {
  readRevisionSchema,
  shownVariantSchema,
  variantEditedSchema,
  variantEditSchema,
} from "../schemas/variants.ts";

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
