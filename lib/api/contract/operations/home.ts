import { z } from "zod";
import { defineOperation, type Operation } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";
import { listQuerySchema, sessionListQuerySchema } from "../schemas/queries.ts";
import { inboxItemSchema } from "./inbox.ts";
import { renaming, sessionDeletedSchema, sessionSummarySchema } from "./sessions.ts";

const OF_LOGINS =
  "The same as the corresponding operation under `/api/sessions`, with the login cookie as the credential.";

/** An open item with what a person needs to find its session. */
const homeInboxItemSchema = inboxItemSchema
  .omit({ call: true, form: true, answerUrl: true })
  .extend({
    sessionTitle: z.string().meta({ description: "Title of the session.", examples: ["Prices of the shop"] }),
    shareUrl: z.string().meta({
      description: "Path of the session's page, where the item is settled. It allows what the login allows.",
      examples: ["/s/ses_k3v9bq2mzt7xwcnr4yhj5dpe?t=…"],
    }),
  })
  .meta({ id: "HomeInboxItem", description: "An open item of the inbox on the landing page." });

/** Operations of the landing page on the sessions of a person who is signed in. */
export const homeOperations = {
  listHomeSessions: defineOperation({
    method: "GET",
    path: "/actions/sessions",
    summary: "List sessions on the landing page",
    description: OF_LOGINS,
    auth: { kind: "person" },
    rate: "poll",
    query: sessionListQuerySchema,
    answers: { 200: listOf(sessionSummarySchema) },
  }),
  listHomeInbox: defineOperation({
    method: "GET",
    path: "/actions/inbox",
    summary: "List what waits for a person on the landing page",
    description:
      "Lists the open items of all sessions of the login's owner, newest first, with the pages of their sessions.",
    auth: { kind: "person" },
    rate: "poll",
    query: listQuerySchema,
    answers: { 200: listOf(homeInboxItemSchema) },
  }),
  renameHomeSession: defineOperation({
    method: "PATCH",
    path: "/actions/sessions/:sessionId",
    summary: "Rename a session on the landing page",
    description: OF_LOGINS,
    auth: { kind: "person" },
    requiresJsonType: true,
    ...renaming,
  }),
  deleteHomeSession: defineOperation({
    method: "DELETE",
    path: "/actions/sessions/:sessionId",
    summary: "Delete a session on the landing page",
    description: OF_LOGINS,
    auth: { kind: "person" },
    rate: "poll",
    answers: { 200: sessionDeletedSchema },
  }),
} as const satisfies Record<string, Operation>;
