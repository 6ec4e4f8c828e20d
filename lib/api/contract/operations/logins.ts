import { defineOperation, type Operation } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";
import { doneSchema, logInSchema, loginRecordSchema } from "../schemas/logins.ts";

export const loginOperations = {
  listLogins: defineOperation({
    method: "GET",
    path: "/actions/logins",
    summary: "List logins",
    description: "Lists the browsers that are signed in, the most recently used first.",
    auth: { kind: "login" },
    rate: "poll",
    answers: { 200: listOf(loginRecordSchema) },
  }),
  endLogin: defineOperation({
    method: "DELETE",
    path: "/actions/logins/:loginId",
    summary: "End a login",
    description:
      "The browser is signed out immediately, in every process. Ending a login again changes nothing.",
    auth: { kind: "login" },
    rate: "poll",
    answers: { 200: doneSchema },
  }),
  logOut: defineOperation({
    method: "POST",
    path: "/actions/logout",
    summary: "Log out",
    description: "Ends the login whose cookie the request has, and removes the cookie.",
    auth: { kind: "login" },
    rate: "poll",
    answers: { 200: doneSchema },
  }),
} as const satisfies Record<string, Operation>;

/**
 * Signs in with the token of a login link. It is not part of {@link loginOperations}, because its path is also that of
 * the page that a login link opens: a GET only shows the page, so that previews and prefetches do not use up the link.
 */
export const logInOperation = defineOperation({
  method: "POST",
  path: "/login",
  summary: "Log in",
  auth: { kind: "page" },
  body: logInSchema,
  bodyBytesMax: 4 * 1024,
  requiresJsonType: true,
  answers: { 200: doneSchema },
});
