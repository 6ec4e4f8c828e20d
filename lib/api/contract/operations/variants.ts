import { z } from "zod";
import { previewSchema, variantSummarySchema } from "#lib/events/event-schemas.ts";
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
    auth: DRIVER_AUTH,
    rate: "act",
    errors: ["conflict"],
    answers: { 200: variantEditedSchema },
  }),
  showVariant: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/shown-variant",
    summary: "Switch the variant in the live browser on or off",
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
