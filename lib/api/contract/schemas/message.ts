import { z } from "zod";
import { MESSAGE_ROLES } from "#db/schema/unions.ts";

/** A message that a caller sends. Source: specification, Message. */
export const messageSchema = z
  .object({
    role: z.enum(MESSAGE_ROLES),
    parts: z
      .array(
        z.object({
          type: z.literal("text"),
          text: z.string().meta({ examples: ["Tell me what the checkout of this shop asks for."] }),
        }),
      )
      .min(1, { error: "must hold at least one part" }),
  })
  .meta({ id: "Message", description: "A message of the transcript." });

/**
 * A list of messages, at least one of them from the user.
 * Source: specification, Session creation request; `wire.md`, POST /api/session.
 */
export const messagesSchema = z
  .array(messageSchema)
  .min(1, { error: "must hold at least one message" })
  .max(1_000, { error: "must hold at most 1,000 messages" })
  .refine((messages) => messages.some((message) => message.role === "user"), {
    error: "must hold at least one user message",
  })
  .meta({
    description: "Messages, at least one of them from the user. The last user message starts the turn.",
  });

export type MessageInput = z.output<typeof messageSchema>;
