import { z } from "zod";
import { quoteAsData } from "#lib/tools/quote-as-data.ts";
import { defineTool, errorResult, type Tool } from "#lib/tools/tool.ts";
import type { PlanningDeps } from "../planning-deps.ts";
import { listRequirementRows } from "../planning-store.ts";
import {
  assertionInputSchema,
  describeRequirement,
  evidenceIdsSchema,
  REQUIREMENT_LIMITS,
  requirementIdSchema,
  requirementNoteSchema,
  requirementTextSchema,
  toRequirement,
} from "../requirement.ts";
import { addRequirements, updateRequirement } from "../store-requirements.ts";

const common = { idempotent: true } as const;

/** `add_requirements`. Source: specification, Capabilities; `architecture.md`, Plan and requirements. */
export const addRequirementsTool = (deps: PlanningDeps): Tool =>
  defineTool({
    ...common,
    name: "add_requirements",
    description:
      "Records what the result has to fulfil, for people and sub-agents. With an assertion, check_variant tests it on the page.",
    input: z.strictObject({
      requirements: z
        .array(z.strictObject({ text: requirementTextSchema, assertion: assertionInputSchema.optional() }))
        .min(1, { error: "must hold a requirement" })
        .max(REQUIREMENT_LIMITS.perCall, { error: `must hold at most ${REQUIREMENT_LIMITS.perCall}` }),
    }),
    readOnly: false,
    changes: false,
    async execute({ requirements }, { rootSessionId, requestId, runId, callId }) {
      const about = { rootSessionId, requestId, runId, callId };
      const added = await addRequirements(deps, { ...about, author: "agent", requirements });
      return added.ok
        ? added.requirements.map(describeRequirement).join("\n")
        : errorResult(`add_requirements: ${added.problem}.`);
    },
  });

export const updateRequirementTool = (deps: PlanningDeps): Tool =>
  defineTool({
    ...common,
    name: "update_requirement",
    description:
      "Changes a requirement. met needs evidenceIds (of screenshot, capture_preview, check_variant …); failed needs a note that says why. Only people waive.",
    input: z.strictObject({
      id: requirementIdSchema,
      status: z.enum(["open", "met", "failed"]).optional(),
      text: requirementTextSchema.optional(),
      evidenceIds: evidenceIdsSchema.optional(),
      note: requirementNoteSchema.optional(),
      assertion: assertionInputSchema.nullable().optional().describe("null removes it"),
    }),
    readOnly: false,
    changes: false,
    async execute({ id, ...change }, { rootSessionId, requestId, runId, callId }) {
      const about = { rootSessionId, requestId, runId, callId };
      const updated = await updateRequirement(deps, { ...about, id, author: "agent", change });
      return updated.ok
        ? describeRequirement(updated.requirement)
        : errorResult(`update_requirement: ${updated.problem}.`);
    },
  });

export const listRequirementsTool = (deps: PlanningDeps): Tool =>
  defineTool({
    ...common,
    name: "list_requirements",
    description:
      "Lists the requirements with status, evidence, assertion and the result of its newest check.",
    input: z.strictObject({}),
    readOnly: true,
    changes: false,
    readsStore: true,
    async execute(_input, { rootSessionId }) {
      const rows = await listRequirementRows(deps.db, rootSessionId);
      if (rows.length === 0) return "There are no requirements.";
      const lines = rows.map((row) => describeRequirement(toRequirement(row)));
      const found = rows.flatMap(({ number, outcome }) =>
        outcome?.message ? [`r${number}: ${outcome.message}`] : [],
      );
      return [...lines, ...(found.length > 0 ? [quoteAsData("the checks", found.join("\n"))] : [])].join(
        "\n",
      );
    },
  });
