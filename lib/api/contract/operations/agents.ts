import { z } from "zod";
import { AGENT_BROWSERS, AGENT_OUTCOMES, WAIT_KINDS } from "#db/schema/unions.ts";
import { usageSumSchema } from "#lib/events/event-schemas.ts";
import { jsonValue, timestamp } from "#lib/events/wire-values.ts";
import { defineOperation, KEY_AUTH, type Operation } from "../operation.ts";

/** A sub-agent as the API lists it. Source: `wire.md`, Sub-agents. */
const agentRecordSchema = z
  .object({
    agentId: z.string().meta({
      description: "Id of the sub-agent, which is also the id of its session.",
      examples: ["ses_c3hq7wzkx2mtnpyr5vbjd4sa"],
    }),
    parentId: z.string().meta({
      description: "Id of the session that started the sub-agent.",
      examples: ["ses_xdbqydi2z2jnnberubbghcrn"],
    }),
    depth: z.int().meta({
      description:
        "Depth in the tree of sub-agents. 1 for a sub-agent whose parent session is not a sub-agent itself.",
    }),
    name: z
      .string()
      .meta({ description: "Name of the sub-agent, unique in its tree.", examples: ["cart-page"] }),
    objective: z.string().meta({
      description: "The task that the sub-agent was given.",
      examples: ["Read the prices on the cart page."],
    }),
    browser: z.enum(AGENT_BROWSERS),
    status: z.enum(["running", ...AGENT_OUTCOMES]).meta({
      description:
        "Outcome of the sub-agent's last turn. `running` until that turn has ended, even while it waits, and again after a message from its parent has started a new turn.",
    }),
    lastStep: z
      .string()
      .nullable()
      .meta({
        description: "The last step of the sub-agent, in words. Null before its first step.",
        examples: ["called dom_query"],
      }),
    progress: z
      .string()
      .nullable()
      .meta({
        description: "The last progress report of the sub-agent. Null if there is none.",
        examples: ["Two of five pages are read."],
      }),
    result: jsonValue.optional().meta({
      description:
        "The result that the sub-agent submitted. If it succeeded without submitting a result, its last text. Absent if there is no result.",
    }),
    error: z
      .string()
      .nullable()
      .meta({ description: "Why the sub-agent failed. Null if it has not failed.", examples: [null] }),
    submitted: z.boolean().meta({
      description:
        "Whether the sub-agent submitted `result` itself. If false, `result` is its last text or absent.",
    }),
    usage: usageSumSchema.meta({
      description: "Usage of the finished turns of the sub-agent and of the sub-agents below it.",
    }),
    statusUrl: z.string(),
    streamUrl: z.string(),
    liveViewUrl: z
      .string()
      .nullable()
      .meta({
        description:
          "Absolute URL of the live view of the browser that the sub-agent uses, which may be its parent's. Null unless that browser is ready.",
        examples: [null],
      }),
    createdAt: timestamp,
    settledAt: timestamp
      .nullable()
      .describe("When the sub-agent's last turn ended. ISO 8601, UTC. Null while the turn runs."),
  })
  .meta({ id: "AgentRecord", description: "A sub-agent." });

/**
 * A sub-agent as the session page lists it. It contains no links to the sub-agent, because these would stay valid after
 * the visitor's own link is revoked.
 */
const agentViewSchema = agentRecordSchema
  .omit({ statusUrl: true, streamUrl: true, liveViewUrl: true })
  .extend({
    isResultCut: z.boolean().optional().meta({
      description:
        "True if the JSON of the result is longer than 4,096 characters: `result` is then the beginning of that JSON as a string. Absent otherwise.",
    }),
    waitingOn: z
      .enum(WAIT_KINDS)
      .nullable()
      .meta({
        description: "What the sub-agent's turn waits for. Null if it does not wait.",
        examples: [null],
      }),
    pictureTakenAt: timestamp.nullable().meta({
      description:
        "When the last screenshot of the page that the sub-agent works on was taken. ISO 8601, UTC. Null if there is none.",
      examples: [null],
    }),
  })
  .meta({
    id: "AgentView",
    description: "A sub-agent, as the session page lists it. `objective` is cut off after 500 characters.",
  });

/** The sub-agents below a session, for its page. The list is flat; parents precede their children. */
export const agentViewsSchema = z
  .object({ success: z.literal(true), agents: z.array(agentViewSchema) })
  .meta({
    id: "AgentViews",
    description:
      "The sub-agents below a session, as its page lists them: at most 100. If there are more, the oldest of those that have ended are left out.",
  });

/** The sub-agents below a session. The list is flat; parents precede their children. */
const agentTreeSchema = z
  .object({ success: z.literal(true), agents: z.array(agentRecordSchema) })
  .meta({ id: "AgentTree", description: "The sub-agents below a session." });

export const agentOperations = {
  listAgents: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/agents",
    summary: "List the sub-agents below a session",
    description:
      "Lists every sub-agent below the session, at every depth: parents before their children. Each sub-agent has its own session. An API key of the owner can read this session, but operations that change it return 409.",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: agentTreeSchema },
  }),
} as const satisfies Record<string, Operation>;
