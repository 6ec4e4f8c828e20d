import { z } from "zod";
import { FOLLOW_UP_MODES } from "#db/schema/unions.ts";
import { SENT_ANNOTATIONS_MAX } from "#lib/annotation/send-annotations.ts";
import { requestId, runId, sessionId, statusUrl, streamUrl } from "#lib/events/wire-values.ts";
import { defineOperation, KEY_AUTH, MIB, type Operation } from "../operation.ts";
import { stoppedSchema } from "../schemas/answers.ts";
import { nameUpTo } from "../schemas/fields.ts";
import { type MessageInput, messageSchema, messagesSchema } from "../schemas/message.ts";

const CONTENTS = ["text", "message", "messages"] as const;
/** The most files that one message can have. */
const ATTACHMENTS_MAX = 10;

/** Body of `POST /api/sessions/:sessionId/agent/messages`. Source: `wire.md`, Follow-ups. */
export const followUpSchema = z
  .strictObject({
    text: z
      .string()
      .optional()
      .meta({
        description:
          "Text of one user message. It may be empty only if `attachments` or `annotations` names something.",
        examples: ["Which of these are required?"],
      }),
    attachments: z
      .array(nameUpTo(1_024))
      .max(ATTACHMENTS_MAX, { error: `must hold at most ${ATTACHMENTS_MAX} paths` })
      .optional()
      .meta({
        description:
          "Paths of files of the workspace that belong to `text`. The agent is told the paths, and is shown PNG, JPEG, WebP and GIF pictures of at most 5 MiB. Upload a file with `PUT …/files/<path>`.",
        examples: [["uploads/plan.png"]],
      }),
    annotations: z
      .array(nameUpTo(100))
      .max(SENT_ANNOTATIONS_MAX, { error: `must hold at most ${SENT_ANNOTATIONS_MAX} ids` })
      .optional()
      .meta({
        description:
          "Ids of open or lost annotations of the session that belong to `text`, with at most 64,000 characters together. The agent is sent their elements and comments, and each becomes `sent`. Visitors need the role `drive`.",
        examples: [["ann_q5s7txyzacdf2gik4mnprvwb"]],
      }),
    message: messageSchema
      .refine((message) => message.role === "user", { error: 'must be "user"', path: ["role"] })
      .optional()
      .meta({ description: "One user message." }),
    messages: messagesSchema.optional(),
    mode: z.enum(FOLLOW_UP_MODES).optional().meta({
      default: "queue",
      description:
        "`queue`: the message starts its own turn after the queued messages before it. `steer`: the running turn reads the message between two of its steps. The message starts its own turn instead, as with `queue`, if no turn runs, if the running turn is being stopped, has reached its step limit or already collects its structured result, if a person started the running turn and the message is sent with an API key, or if a person sends it and the running turn lacks tools because no person started it. `interrupt`: cancels the running turn, then the message starts its own turn.",
    }),
    idempotencyKey: nameUpTo(255)
      .optional()
      .meta({
        description:
          "A replay with the same key and an equal body returns the original response and changes nothing. The same key with a different body is refused with 422. Different sessions do not share keys.",
        examples: ["follow-up-0017"],
      }),
    userId: nameUpTo(255)
      .optional()
      .meta({
        description:
          "Stable caller identity, stored as the message's author. Default: the `userId` of the session.",
        examples: ["user-7"],
      }),
  })
  .superRefine((body, context) => {
    const sent = CONTENTS.filter((content) => body[content] !== undefined);
    if (sent.length !== 1)
      context.addIssue({
        code: "custom",
        path: [sent[1] ?? "text"],
        message:
          sent.length === 0
            ? "is required (or message, or messages)"
            : `send exactly one of text, message, messages, not also ${sent[0]}`,
      });
    const { text, attachments = [], annotations = [] } = body;
    if (text === "" && attachments.length + annotations.length === 0)
      context.addIssue({ code: "custom", path: ["text"], message: "must not be empty" });
    for (const [field, values, repetition] of [
      ["attachments", attachments, "is attached already"],
      ["annotations", annotations, "is named already"],
    ] as const) {
      if (values.length > 0 && text === undefined)
        context.addIssue({ code: "custom", path: [field], message: "can be sent only with text" });
      const repeated = values.findIndex((value, index) => values.indexOf(value) < index);
      if (repeated >= 0) context.addIssue({ code: "custom", path: [field, repeated], message: repetition });
    }
  })
  .meta({
    id: "FollowUp",
    description: "A follow-up message: exactly one of `text`, `message` and `messages`.",
    oneOf: CONTENTS.map((content) => ({ required: [content] })),
  });

type FollowUpInput = z.output<typeof followUpSchema>;

/** Returns the messages of a follow-up, from its `text`, `message` or `messages`. */
export function readFollowUpMessages(body: FollowUpInput): MessageInput[] {
  if (body.messages) return body.messages;
  return [body.message ?? { role: "user", parts: [{ type: "text", text: body.text ?? "" }] }];
}

export const followUpAcceptedSchema = z
  .object({
    success: z.literal(true),
    sessionId,
    requestId,
    runId,
    statusUrl,
    streamUrl,
    queued: z.boolean().meta({
      description:
        "True if the message waits: until the turns before it have ended or, with `steer`, until the running turn reads it. False if it starts a turn at once.",
    }),
  })
  .meta({ id: "FollowUpAccepted" });

/** The fields that the operations for posting a message share, in the API and on the session page. */
export const followUp = {
  errors: ["idempotency_key_reused", "conflict"],
  answerHeaders: { 202: ["Idempotency-Replayed"] },
  body: followUpSchema,
  bodyBytesMax: 8 * MIB,
  requiresJsonType: true,
  answers: { 202: followUpAcceptedSchema },
} as const;

export const followUpOperations = {
  postMessage: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/agent/messages",
    summary: "Post a follow-up message",
    description:
      "Send exactly one of `text`, `message` and `messages`. A turn that this operation starts never counts as started by a person. `queued` is true if the message waits for earlier turns to end or for the running turn to read it. A session queues at most 100 messages; a further message is refused with 409 `conflict`.",
    bodyExamples: {
      "A question": { text: "Which of these are required?" },
      "Steer the running turn": { text: "Skip the newsletter box.", mode: "steer" },
      "With a file of the workspace": {
        text: "Build the page as in this picture.",
        attachments: ["uploads/plan.png"],
      },
      "With annotations of the page": {
        text: "Please change this.",
        annotations: ["ann_q5s7txyzacdf2gik4mnprvwb"],
      },
      "Interrupt the running turn": { text: "Stop that and look at the cart.", mode: "interrupt" },
    },
    auth: KEY_AUTH,
    rate: "create",
    ...followUp,
  }),
  cancelTurn: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/agent/cancel",
    summary: "Stop the running turn",
    description:
      "Ends the running turn with the outcome `cancelled`. The next queued message then starts its turn. `runId` is null if no turn was running.",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 202: stoppedSchema },
  }),
} as const satisfies Record<string, Operation>;
