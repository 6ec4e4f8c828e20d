import { defineOperation, type Operation } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";
import { sessionListQuerySchema } from "../schemas/queries.ts";
import { renaming, sessionDeletedSchema, sessionSummarySchema } from "./sessions.ts";

const OF_LOGINS =
  "The same as the corresponding operation under `/api/sessions`, with the login cookie as the credential.";

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
