import { z } from "zod";
import { ELICITATION_STATES } from "#db/schema/unions.ts";
import { questionFields } from "#lib/events/event-schemas.ts";
import { answerInputSchema, answerSchema } from "#lib/events/form-schema.ts";
import { runId, timestamp } from "#lib/events/wire-values.ts";
import { defineOperation, KEY_AUTH, type Operation } from "../operation.ts";
import { listOf, settledSchema } from "../schemas/answers.ts";
import { listQuerySchema } from "../schemas/queries.ts";

/** A question that the agent asks the people on the session page. */
const elicitationRecordSchema = z
  .object({
    elicitationId: z.string().meta({ examples: ["eli_b4wq2nxzkt7mpycr5hvjd3sa"] }),
    runId,
    toolCallId: z
      .string()
      .meta({ description: "Id of the tool call that asked the question.", examples: ["call_h3k7pq"] }),
    ...questionFields,
    state: z.enum(ELICITATION_STATES).meta({
      description:
        "`open`: the question waits for an answer. `declined`: a person declined to answer. `unanswered`: no one answered in time. `withdrawn`: a message or a stop of the turn ended the question.",
    }),
    answer: answerSchema
      .nullable()
      .meta({ description: "The answer. Null unless `state` is `answered`.", examples: [null] }),
    createdAt: timestamp,
    resolvedAt: timestamp
      .nullable()
      .describe("When the question was closed. ISO 8601, UTC. Null while it is open."),
  })
  .meta({ id: "Elicitation", description: "A question that the agent asked." });

/** The fields that the operations for answering a question share, in the API and on the session page. */
export const elicitationAnswer = {
  body: z.union([
    z.strictObject({ answer: answerInputSchema }),
    z.strictObject({ decline: z.literal(true) }),
  ]),
  bodyBytesMax: 256 * 1024,
  errors: ["conflict"],
  answers: { 202: settledSchema },
} as const;

export const elicitationOperations = {
  listElicitations: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/elicitations",
    summary: "List the agent's questions, newest first",
    auth: KEY_AUTH,
    rate: "poll",
    query: listQuerySchema,
    answers: { 200: listOf(elicitationRecordSchema) },
  }),
  answerElicitation: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/elicitations/:elicitationId",
    summary: "Answer the agent's question",
    description:
      "Answers or declines a question, after which the turn continues. Each question can be answered or declined only once: returns 409 if the question is no longer open. Returns 400 if a value does not fit its field; the question then stays open.",
    bodyExamples: {
      "An answer": { answer: "EUR" },
      "A form": { answer: { email: "ada@shop.example", newsletter: false } },
      "No answer": { decline: true },
    },
    auth: KEY_AUTH,
    rate: "poll",
    ...elicitationAnswer,
  }),
} as const satisfies Record<string, Operation>;
