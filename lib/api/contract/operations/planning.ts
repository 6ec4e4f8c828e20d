import { requirementSchema } from "#lib/events/planning-schemas.ts";
import { DRIVER_AUTH, defineOperation, type Operation, PUBLISHER_AUTH, READER_AUTH } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";
import { followUpAcceptedSchema } from "../schemas/follow-up.ts";
import {
  agreementSchema,
  newRequirementsSchema,
  planAnswerSchema,
  planEditsSchema,
  planModeSchema,
  requirementAnswerSchema,
  requirementChangeSchema,
  requirementsAddedSchema,
} from "../schemas/planning.ts";

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
