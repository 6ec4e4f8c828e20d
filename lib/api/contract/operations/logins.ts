import { defineOperation, type Operation } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";
import { doneSchema, loginRecordSchema } from "../schemas/logins.ts";

export const loginOperations = {
  listLogins: defineOperation({
    method: "GET",
    path: "/actions/logins",
    summary: "List logins",
    auth: { kind: "login" },
    rate: "poll",
    answers: { 200: listOf(loginRecordSchema) },
  }),
  endLogin: defineOperation({
    method: "DELETE",
    path: "/actions/logins/:loginId",
    summary: "End a login",
    auth: { kind: "login" },
    rate: "poll",
    answers: { 200: doneSchema },
  }),
  logOut: defineOperation({
    method: "POST",
    path: "/actions/logout",
    summary: "Log out",
    auth: { kind: "login" },
    rate: "poll",
    answers: { 200: doneSchema },
  }),
} as const satisfies Record<string, Operation>;
