import { z } from "zod";
import { planSchema, requirementSchema } from "#lib/events/planning-schemas.ts";
import { planEditSchema } from "#lib/planning/plan.ts";
import {
  assertionInputSchema,
  REQUIREMENT_LIMITS,
  requirementNoteSchema,
  requirementTextSchema,
} from "#lib/planning/requirement.ts";
import { textUpTo } from "./fields.ts";

/** The response to reading the plan, editing it and setting its mode. */
export const planAnswerSchema = z
  .object({ success: z.literal(true), plan: planSchema })
  .meta({ id: "PlanAnswer", description: "The current plan." });

export const planEditsSchema = z
  .strictObject({
    edits: z
      .array(planEditSchema)
      .min(1, { error: "must hold an edit" })
      .max(50, { error: "must hold at most 50 edits" }),
  })
  .meta({ id: "PlanEdits", description: "Edits of single items. Edits of different items never conflict." });

export const planModeSchema = z
  .strictObject({ mode: z.enum(["off", "plan_first"]) })
  .meta({ id: "PlanModeChange", description: "Switches the mode `plan_first` on or off." });

export const agreementSchema = z.strictObject({
  revision: z
    .int()
    .min(1)
    .meta({
      description: "The revision of the plan that the person saw. Any other revision is refused with 409.",
      examples: [2],
    }),
  text: textUpTo(10_000).optional().meta({ description: "Text that the person adds to the agreement." }),
});

export const requirementsAddedSchema = z
  .object({ success: z.literal(true), requirements: z.array(requirementSchema) })
  .meta({ id: "RequirementsAdded", description: "The added requirements." });

export const requirementAnswerSchema = z
  .object({ success: z.literal(true), requirement: requirementSchema })
  .meta({ id: "RequirementAnswer", description: "The requirement after the change." });

const assertion = assertionInputSchema.meta({
  description: "A condition that a check of the page can verify.",
});

export const newRequirementsSchema = z
  .strictObject({
    requirements: z
      .array(z.strictObject({ text: requirementTextSchema, assertion: assertion.optional() }))
      .min(1, { error: "must hold a requirement" })
      .max(REQUIREMENT_LIMITS.perCall, {
        error: `must hold at most ${REQUIREMENT_LIMITS.perCall} requirements`,
      }),
  })
  .meta({ id: "NewRequirements", description: "Requirements to add." });

export const requirementChangeSchema = z
  .strictObject({
    text: requirementTextSchema.optional(),
    status: z.enum(["open", "waived"]).optional().meta({
      description:
        "`waived`: the requirement no longer counts. `open`: it counts again. Only the agent can set `met` and `failed`.",
    }),
    note: requirementNoteSchema.nullable().optional(),
    assertion: assertion
      .nullable()
      .optional()
      .meta({ description: "The new assertion. Null removes the assertion." }),
  })
  .refine((change) => Object.keys(change).length > 0, { error: "must have a field to change" })
  .meta({ id: "RequirementChange", description: "Fields to change. Omitted fields stay unchanged." });
