import { z } from "zod";
import { FOLLOW_UP_MODES } from "#db/schema/unions.ts";
import { requestId, timestamp } from "#lib/events/wire-values.ts";
import { defineOperation, KEY_AUTH, MIB, type Operation } from "../operation.ts";
import { settledSchema, success } from "../schemas/answers.ts";

const queuedMessageSchema = z
  .object({
    requestId,
    mode: z.enum(FOLLOW_UP_MODES).meta({
      description:
        "`steer`: the running turn will read the message between two of its steps. `queue` and `interrupt`: the message will start its own turn. A message that was sent with `steer` but starts its own turn is listed as `queue`.",
    }),
    text: z.string().meta({ examples: ["Which of these are required?"] }),
    attachments: z
      .array(z.string())
      .meta({ description: "Paths of the files that are attached to the message.", examples: [[]] }),
    annotations: z
      .array(z.string())
      .meta({ description: "Ids of the annotations that were sent with the message.", examples: [[]] }),
    author: z
      .string()
      .nullable()
      .meta({
        description: "The `userId` that the caller sent with the message. Null if there was none.",
        examples: [null],
      }),
    createdAt: timestamp,
  })
  .meta({ id: "QueuedMessage" });

export const queueSchema = z
  .object({ success, data: z.array(queuedMessageSchema), nextCursor: z.null() })
  .meta({ id: "Queue" });

/** The fields that the operations for editing a queued message share, in the API and on the session page. */
export const queuedEdit = {
  body: z.strictObject({ text: z.string().min(1, { error: "must not be empty" }) }),
  bodyBytesMax: 8 * MIB,
  errors: ["conflict"],
  answers: { 200: settledSchema },
} as const;

export const queueOperations = {
  listQueue: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/queue",
    summary: "List queued messages",
    description: "Lists the messages that wait, in the order in which the agent will get them.",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: queueSchema },
  }),
  editQueued: defineOperation({
    method: "PATCH",
    path: "/api/sessions/:sessionId/queue/:requestId",
    summary: "Edit a queued message",
    description:
      "Replaces the text of a message that waits. Its attached files and annotations stay. Returns 409 once the message's turn has started or a turn has read the message.",
    auth: KEY_AUTH,
    rate: "poll",
    ...queuedEdit,
  }),
  removeQueued: defineOperation({
    method: "DELETE",
    path: "/api/sessions/:sessionId/queue/:requestId",
    summary: "Remove a queued message",
    description:
      "Removes a message that waits, and completes its request with the outcome `cancelled`. Returns 409 once the message's turn has started or a turn has read the message.",
    auth: KEY_AUTH,
    errors: ["conflict"],
    rate: "poll",
    answers: { 200: settledSchema },
  }),
} as const satisfies Record<string, Operation>;
