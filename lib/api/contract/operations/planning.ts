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
    auth: READER_AUTH,
    rate: "poll",
    answers: { 200: planAnswerSchema },
  }),
  editPlan: defineOperation({
    ...write,
    method: "POST",
    path: `${SESSION}/plan/edits`,
    summary: "Edit the plan",
    body: planEditsSchema,
    errors: ["conflict"],
    answers: { 200: planAnswerSchema },
  }),
  setPlanMode: defineOperation({
    ...write,
    method: "POST",
    path: `${SESSION}/plan/mode`,
    summary: "Switch plan first on or off",
    body: planModeSchema,
    errors: ["conflict"],
    answers: { 200: planAnswerSchema },
  }),
  agreePlan: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/plan/go",
    summary: "Agree to the plan from the session page",
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
    auth: READER_AUTH,
    rate: "poll",
    answers: { 200: listOf(requirementSchema) },
  }),
  addRequirements: defineOperation({
    ...write,
    method: "POST",
    path: `${SESSION}/requirements`,
    summary: "Add requirements",
    body: newRequirementsSchema,
    errors: ["conflict"],
    answers: { 201: requirementsAddedSchema },
  }),
  updateRequirement: defineOperation({
    ...write,
    method: "PATCH",
    path: `${SESSION}/requirements/:requirementId`,
    summary: "Change, waive or reopen a requirement",
    body: requirementChangeSchema,
    errors: ["conflict"],
    answers: { 200: requirementAnswerSchema },
  }),
} as const satisfies Record<string, Operation>;
