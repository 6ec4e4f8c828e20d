import { z } from "zod";
import { INBOX_KINDS, INBOX_SETTLERS, INBOX_STATES } from "#db/schema/unions.ts";
import { answerInputSchema, formSchema } from "#lib/events/form-schema.ts";
import { runId, sessionId, timestamp } from "#lib/events/wire-values.ts";
import { defineOperation, KEY_AUTH, type Operation, PUBLISHER_AUTH, READER_AUTH } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";
import { textUpTo } from "../schemas/fields.ts";
import { listQuerySchema } from "../schemas/queries.ts";

/** Something that waits, or has waited, for a person. Source: `wire.md`, Inbox. */
export const inboxItemSchema = z
  .object({
    id: z.string().meta({ description: "Id of the item.", examples: ["itm_b4wq2nxzkt7mpycr5hvjd3sa"] }),
    sessionId: sessionId.describe("Id of the session; for a sub-agent, of its root session."),
    runId: runId
      .nullable()
      .describe(
        "Id of the run that waits. Null for a plan that a person wrote, and for a call of another agent over MCP.",
      ),
    kind: z.enum(INBOX_KINDS).meta({
      description:
        "`question`: the agent, or a tool server, asks a question. `approval`: a tool call waits for approval. `handover`: the agent needs a person in its browser. `budget`: the turn waits for a larger budget. `plan`: the plan waits for agreement.",
    }),
    agentName: z
      .string()
      .optional()
      .meta({ description: "Name of the sub-agent that waits. Absent if the session itself waits." }),
    title: z.string().meta({
      description: "The item in one line. That of a sub-agent begins with its name.",
      examples: ["Which currency?"],
    }),
    body: z.string().meta({ description: "The whole text.", examples: ["Which currency?"] }),
    options: z
      .array(z.string())
      .optional()
      .meta({ description: "Answers to choose from. Another text is accepted too." }),
    call: z
      .object({
        toolCallId: z.string().meta({ examples: ["call_h3k7pq"] }),
        toolName: z.string().meta({ examples: ["mcp_crm__delete_contact"] }),
        input: z
          .unknown()
          .optional()
          .meta({
            description:
              "The exact arguments. Absent in a list if their JSON has more than 16,384 characters: read the item.",
            examples: [{ id: 7 }],
          }),
        inputPreview: z
          .string()
          .optional()
          .meta({
            description: "The beginning of the JSON of the arguments, if `input` is absent.",
            examples: ['{"rows":[{"id":7},'],
          }),
      })
      .optional()
      .meta({ description: "The call to approve." }),
    form: formSchema.optional().meta({ description: "The form to fill in." }),
    answerUrl: z
      .string()
      .optional()
      .meta({
        description:
          "Link to a page on which anyone who has the link settles this item, once, until it expires. Only for open questions, approvals and handovers, and only for an API key with the scope `sessions:write`.",
        examples: ["https://service.example/answer/itm_b4wq2nxzkt7mpycr5hvjd3sa?key=…"],
      }),
    createdAt: timestamp,
    expiresAt: timestamp.nullable().describe("When the item expires. Null if it has no deadline."),
    state: z.enum(INBOX_STATES).meta({
      description:
        "`open`: waits. `answered`, `declined`: for a question. `approved`, `denied`: for a call; a plan that is agreed is `approved`, too. `done`: a person has done what a handover asked for, or the budget is larger; a handover can be `declined`, too. `expired`: no one settled it in time. `withdrawn`: a message or a stop ended the wait, or its reason is gone.",
    }),
    settledBy: z.enum(INBOX_SETTLERS).optional().meta({
      description:
        "Who settled the item: a person on the session page, or a program with an API key. Absent if the service closed it.",
    }),
    settledAt: timestamp
      .optional()
      .describe("When the item was settled. ISO 8601, UTC. Absent while it is open."),
  })
  .meta({ id: "InboxItem", description: "Something that waits for a person." });

const stateQuery = {
  state: z.enum(INBOX_STATES).optional().meta({ description: "Lists only items in this state." }),
};

/** How an item is settled. */
const settlement = z.union(
  [
    z.strictObject({ answer: answerInputSchema }),
    z.strictObject({ decline: z.literal(true) }),
    z.strictObject({
      done: z.literal(true),
      note: textUpTo(1_000)
        .optional()
        .meta({ description: "The agent reads it.", examples: ["The code was sent to the office"] }),
    }),
    z.strictObject({
      approve: z.literal(true),
      forSession: z
        .boolean()
        .optional()
        .meta({ description: "Also approves later calls of this tool in the session and its sub-agents." }),
    }),
    z.strictObject({
      deny: z.literal(true),
      reason: textUpTo(2_000)
        .optional()
        .meta({ description: "The agent reads it.", examples: ["Not today"] }),
    }),
  ],
  { error: "must be { answer }, { decline: true }, { done: true }, { approve: true } or { deny: true }" },
);

/** The fields that the operations for listing the items of a session share. */
export const inboxListing = {
  query: listQuerySchema.extend(stateQuery),
  answers: { 200: listOf(inboxItemSchema) },
};

const itemAnswer = z.object({ success: z.literal(true), item: inboxItemSchema });

/** The fields that the operations for settling an item share. */
export const inboxSettlement = {
  bodyExamples: {
    "An answer": { answer: "EUR" },
    "A form": { answer: { email: "ada@shop.example", newsletter: false } },
    "No answer": { decline: true },
    "A tool call": { approve: true },
    "The end of a handover": { done: true },
    "No approval": { deny: true, reason: "Not today" },
  },
  body: settlement,
  bodyBytesMax: 256 * 1024,
  errors: ["conflict"],
  answers: {
    200: itemAnswer.meta({ id: "InboxItemSettled", description: "The item after it was settled." }),
  },
} as const;

export const inboxOperations = {
  listInbox: defineOperation({
    method: "GET",
    path: "/api/inbox",
    summary: "List what waits for a person, newest first",
    description:
      "Lists the items of all sessions of the key's owner. Settled items stay listed until their session is deleted.",
    auth: KEY_AUTH,
    rate: "poll",
    query: listQuerySchema.extend({
      sessionId: z
        .string()
        .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, { error: "is not a session id" })
        .optional()
        .meta({ description: "Lists only items of this session and its sub-agents." }),
      ...stateQuery,
    }),
    answers: { 200: listOf(inboxItemSchema) },
  }),
  listSessionInbox: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/inbox",
    summary: "List what waits for a person in a session, newest first",
    description: "Lists the items of the session and its sub-agents.",
    auth: READER_AUTH,
    rate: "poll",
    ...inboxListing,
  }),
  readInboxItem: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/inbox/:itemId",
    summary: "Read an item of the inbox",
    description: "Returns the item with all arguments of its call, however long they are.",
    auth: READER_AUTH,
    rate: "poll",
    answers: { 200: itemAnswer.meta({ id: "InboxItemAnswer", description: "One item of the inbox." }) },
  }),
  settleInboxItem: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/inbox/:itemId",
    summary: "Settle an item of the inbox",
    description:
      "Answers or declines a question, approves or denies a tool call, or ends a handover of the browser (`done` or `decline`), after which the turn continues. An approved call runs once, with exactly the arguments of the item. Each item is settled once, here or with its own endpoint: returns 409 with its `state` if it is not open any more. Returns 400 if a value does not fit its field; the item then stays open. Budgets and plans are only listed: they are settled with `PATCH …/budget` and on the session page.",
    auth: PUBLISHER_AUTH,
    rate: "act",
    ...inboxSettlement,
  }),
} as const satisfies Record<string, Operation>;
