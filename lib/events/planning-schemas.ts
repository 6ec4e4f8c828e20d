import { z } from "zod";
import {
  ASSERTION_KINDS,
  ASSERTION_RESULTS,
  EVIDENCE_KINDS,
  PLAN_AUTHORS,
  PLAN_ITEM_STATUSES,
  PLAN_MODES,
  REQUIREMENT_STATUSES,
} from "#db/schema/unions.ts";
import { count, pageUrl, sessionId, timestamp } from "./wire-values.ts";

const planItemSchema = z
  .object({
    id: z.string().meta({ examples: ["p1"] }),
    text: z.string().meta({ examples: ["Rename the pay button"] }),
    status: z.enum(PLAN_ITEM_STATUSES).meta({ examples: ["in_progress"] }),
  })
  .meta({ id: "PlanItem", description: "A step of the plan." });

/** The plan, which a session shares with its sub-agents. Source: `wire.md`, Plan and requirements. */
export const planSchema = z
  .object({
    mode: z.enum(PLAN_MODES).meta({
      description:
        "`off`: the agent needs no agreement. `plan_first`: the service refuses tool calls that change pages, files or publications until a person agrees to the plan. `agreed`: a person has agreed.",
    }),
    items: z.array(planItemSchema),
    revision: count.meta({
      description: "Increases with each change of the items. 0 if the plan was never written.",
      examples: [2],
    }),
    author: z.enum(PLAN_AUTHORS).nullable().meta({
      description: "Who made the newest revision. Null if the plan was never written.",
    }),
    updatedAt: timestamp
      .nullable()
      .describe("When the plan or its mode last changed. ISO 8601, UTC. Null if neither was ever set."),
  })
  .meta({ id: "Plan", description: "The plan of a session and its sub-agents." });

const assertionSchema = z
  .object({
    url: pageUrl("Page that the assertion is about. Query and fragment are ignored."),
    selector: z.string().meta({ examples: ["#pay"] }),
    is: z.enum(ASSERTION_KINDS),
    value: z
      .union([z.string(), z.number()])
      .optional()
      .meta({
        description:
          "For `text`, the expected whole text of the element. For `count`, the expected number of matching elements. Absent for `visible` and `hidden`.",
        examples: ["Pay now"],
      }),
  })
  .meta({ id: "RequirementAssertion", description: "A condition that a check of the page tests." });

const outcomeSchema = z
  .object({
    status: z.enum(ASSERTION_RESULTS).meta({
      description: "`unchecked`: the check did not examine the page that the assertion is about.",
    }),
    at: timestamp,
    variant: z.string().meta({ examples: ["main"] }),
    revision: z.int().meta({ examples: [3] }),
    message: z
      .string()
      .nullable()
      .meta({
        description: "Why the assertion does not hold, or why it was not checked. Null if it holds.",
        examples: [null],
      }),
  })
  .meta({
    id: "AssertionOutcome",
    description: "What the newest check of a variant found about an assertion.",
  });

const requirementEvidenceSchema = z
  .object({
    id: z.string().meta({ examples: ["evi_t6ywq3ekc2bzmr5x7nahvpdj"] }),
    sessionId: sessionId.meta({
      description: "Id of the session or sub-agent that the artifact belongs to.",
    }),
    kind: z.enum(EVIDENCE_KINDS),
    title: z.string().meta({ examples: ["The checkout form"] }),
    url: pageUrl("Page that the evidence was captured on. Null if it was not captured on a page.").nullable(),
    mediaType: z.string().meta({ examples: ["image/png"] }),
  })
  .meta({ id: "RequirementEvidence", description: "Evidence that a requirement is met." });

/** A requirement, which a session shares with its sub-agents. Source: `wire.md`, Plan and requirements. */
export const requirementSchema = z
  .object({
    id: z.string().meta({ examples: ["r1"] }),
    text: z.string().meta({ examples: ["The button reads Pay now"] }),
    status: z.enum(REQUIREMENT_STATUSES),
    note: z
      .string()
      .nullable()
      .meta({
        description: "Note on the status, for example why the requirement failed. Null if there is none.",
        examples: [null],
      }),
    evidenceIds: z.array(z.string()).meta({
      description:
        "Ids of the evidence that the requirement is met: artifacts of the session or of its sub-agents.",
      examples: [["evi_t6ywq3ekc2bzmr5x7nahvpdj"]],
    }),
    evidence: z.array(requirementEvidenceSchema),
    assertion: assertionSchema.nullable(),
    outcome: outcomeSchema.nullable().meta({
      description:
        "Result of the newest check of the assertion. Null without an assertion, until the first check of the assertion, and again after the assertion has changed.",
    }),
    author: z.enum(PLAN_AUTHORS).meta({ description: "Who added the requirement." }),
    updatedAt: timestamp,
  })
  .meta({ id: "Requirement", description: "A requirement of a session and its sub-agents." });
