import { z } from "zod";
import { planSchema, requirementSchema } from "#lib/events/planning-schemas.ts";
import { planEditSchema } from "#lib/planning/plan.ts";
import {
  assertionInputSchema,
  REQUIREMENT_LIMITS,
  requirementNoteSchema,
  requirementTextSchema,
} from "#lib/planning/requirement.ts";
import { DRIVER_AUTH, defineOperation, type Operation, PUBLISHER_AUTH, READER_AUTH } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";
import { textUpTo } from "../schemas/fields.ts";
import { followUpAcceptedSchema } from "./follow-ups.ts";

/** The response to reading the plan, editing it and setting its mode. */
const planAnswerSchema = z
  .object({ success: z.literal(true), plan: planSchema })
  .meta({ id: "PlanAnswer", description: "The current plan." });

const planEditsSchema = z
  .strictObject({
    edits: z
      .array(planEditSchema)
      .min(1, { error: "must hold an edit" })
      .max(50, { error: "must hold at most 50 edits" }),
  })
  .meta({ id: "PlanEdits", description: "Edits of single items. Edits of different items never conflict." });

const planModeSchema = z
  .strictObject({ mode: z.enum(["off", "plan_first"]) })
  .meta({ id: "PlanModeChange", description: "Switches the mode `plan_first` on or off." });

const agreementSchema = z.strictObject({
  revision: z
    .int()
    .min(1)
    .meta({
      description: "The revision of the plan that the person saw. Any other revision is refused with 409.",
      examples: [2],
    }),
  text: textUpTo(10_000).optional().meta({ description: "Text that the person adds to the agreement." }),
});

const requirementsAddedSchema = z
  .object({ success: z.literal(true), requirements: z.array(requirementSchema) })
  .meta({ id: "RequirementsAdded", description: "The added requirements." });

const requirementAnswerSchema = z
  .object({ success: z.literal(true), requirement: requirementSchema })
  .meta({ id: "RequirementAnswer", description: "The requirement after the change." });

const assertion = assertionInputSchema.meta({
  description: "A condition that a check of the page can verify.",
});

const newRequirementsSchema = z
  .strictObject({
    requirements: z
      .array(z.strictObject({ text: requirementTextSchema, assertion: assertion.optional() }))
      .min(1, { error: "must hold a requirement" })
      .max(REQUIREMENT_LIMITS.perCall, {
        error: `must hold at most ${REQUIREMENT_LIMITS.perCall} requirements`,
      }),
  })
  .meta({ id: "NewRequirements", description: "Requirements to add." });

const requirementChangeSchema = z
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

const SESSION = "/api/sessions/:sessionId";

const write = {
  auth: PUBLISHER_AUTH,
  rate: "act",
  bodyBytesMax: 256 * 1024,
} as const;

/**
 * Operations on plans and requirements, for programs and for the session page. Source: `wire.md`, Plan and
 * requirements.
 */
export const planningOperations = {
  readPlan: defineOperation({
    method: "GET",
    path: `${SESSION}/plan`,
    summary: "Read the plan",
    description:
      "Returns the plan of the session; for a sub-agent, the plan of its root session. If no plan was ever written, returns an empty plan with revision 0.",
    auth: READER_AUTH,
    rate: "poll",
    answers: { 200: planAnswerSchema },
  }),
  editPlan: defineOperation({
    ...write,
    method: "POST",
    path: `${SESSION}/plan/edits`,
    summary: "Edit the plan",
    description:
      "Applies edits to the current plan. Edits of different items by several people all take effect. If an edit names an item that no longer exists, replaces a text that has changed, or adds an item to a plan of 50 items, the request is refused with 409, and none of its edits takes effect. The agent cannot overwrite the edits before it has seen them.",
    body: planEditsSchema,
    errors: ["conflict"],
    answers: { 200: planAnswerSchema },
  }),
  setPlanMode: defineOperation({
    ...write,
    method: "POST",
    path: `${SESSION}/plan/mode`,
    summary: "Switch plan first on or off",
    description:
      "With `plan_first`, the service refuses tool calls that change pages, files or publications until a person agrees to the plan on the session page. This also applies to sub-agents and to holders of MCP tokens. The mode takes effect with the next tool call; calls in progress are not stopped. The agent is still offered the same tools.",
    body: planModeSchema,
    errors: ["conflict"],
    answers: { 200: planAnswerSchema },
  }),
  agreePlan: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/plan/go",
    summary: "Agree to the plan from the session page",
    description:
      "Sets the mode to `agreed` and posts `The plan is agreed. Go ahead.` with the person's text as a message of the person, in one transaction. A running turn reads the message between two of its steps; otherwise it starts a turn. Refused with 409 if the mode is not `plan_first`, if the plan has no item that is `todo` or `in_progress`, if `revision` is not the plan's current revision, or if 100 messages wait already.",
    auth: DRIVER_AUTH,
    rate: "act",
    body: agreementSchema,
    bodyBytesMax: 256 * 1024,
    requiresJsonType: true,
    errors: ["conflict"],
    answers: { 202: followUpAcceptedSchema },
  }),
  listRequirements: defineOperation({
    method: "GET",
    path: `${SESSION}/requirements`,
    summary: "List requirements",
    description:
      "Lists all requirements of the session (for a sub-agent, of its root session) with the newest result of each assertion.",
    auth: READER_AUTH,
    rate: "poll",
    answers: { 200: listOf(requirementSchema) },
  }),
  addRequirements: defineOperation({
    ...write,
    method: "POST",
    path: `${SESSION}/requirements`,
    summary: "Add requirements",
    description:
      "Adds requirements on behalf of a person, at most 20 per call. A session can have at most 100 requirements; a call that would exceed this is refused with 409.",
    body: newRequirementsSchema,
    errors: ["conflict"],
    answers: { 201: requirementsAddedSchema },
  }),
  updateRequirement: defineOperation({
    ...write,
    method: "PATCH",
    path: `${SESSION}/requirements/:requirementId`,
    summary: "Change, waive or reopen a requirement",
    description:
      "Changes a requirement on behalf of a person. A new text or assertion reopens a requirement that was met or failed, unless the call sets a status. The agent cannot change a waived requirement, nor the text or an assertion of a requirement that a person added.",
    body: requirementChangeSchema,
    errors: ["conflict"],
    answers: { 200: requirementAnswerSchema },
  }),
} as const satisfies Record<string, Operation>;
