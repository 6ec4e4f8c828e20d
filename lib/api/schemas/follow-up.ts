import { z } from "zod";
import { FOLLOW_UP_MODES } from "#db/schema/unions.ts";
import { nameUpTo } from "./fields.ts";
import { type MessageInput, messageSchema, messagesSchema } from "./message.ts";

const CONTENTS = ["text", "message", "messages"] as const;

/** Body of `POST /api/sessions/:sessionId/agent/messages`. Source: `wire.md`, Follow-ups. */
export const followUpSchema = z
  .strictObject({
    text: z.string().min(1, { error: "must not be empty" }).optional(),
    message: messageSchema
      .refine((message) => message.role === "user", { error: 'must be "user"', path: ["role"] })
      .optional(),
    messages: messagesSchema.optional(),
    mode: z.enum(FOLLOW_UP_MODES).optional(),
    idempotencyKey: nameUpTo(255).optional(),
    userId: nameUpTo(255).optional(),
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
  });

export type FollowUpInput = z.output<typeof followUpSchema>;

/** The messages a follow-up brings, whichever form it was sent in. */
export function readFollowUpMessages(body: FollowUpInput): MessageInput[] {
  if (body.messages) return body.messages;
  return [body.message ?? { role: "user", parts: [{ type: "text", text: body.text ?? "" }] }];
}

export const followUpAcceptedSchema = z.object({
  success: z.literal(true),
  sessionId: z.string(),
  requestId: z.string(),
  runId: z.string(),
  statusUrl: z.string(),
  streamUrl: z.string(),
  /** Whether a turn is running that this message waits for, or is to be read by. */
  queued: z.boolean(),
});
