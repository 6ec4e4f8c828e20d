import { z } from "zod";
import { LOGIN_METHODS } from "#db/schema/unions.ts";
import { defineOperation, type Operation } from "../operation.ts";
import { listOf, success } from "../schemas/answers.ts";

const instant = (description: string) =>
  z.string().meta({ description: `${description} ISO 8601, UTC.`, examples: ["2026-11-20T09:30:00.000Z"] });

const loginRecordSchema = z
  .object({
    id: z.string().meta({ examples: ["lgn_h5w2n7q4c6x3m2k5j4d7a3bz"] }),
    method: z.enum(LOGIN_METHODS).meta({
      description:
        "`link` for a login link, `oidc` for an account at the identity provider, `key` for an API key.",
    }),
    account: z
      .string()
      .nullable()
      .meta({
        description:
          "E-mail address or subject of the account, or the owner of the API key. Null for a login link.",
        examples: ["ada@example.com"],
      }),
    userAgent: z
      .string()
      .nullable()
      .meta({
        description:
          "`User-Agent` of the browser, cut off after 200 characters. Null if the browser did not send one.",
        examples: ["Mozilla/5.0"],
      }),
    createdAt: instant("Time of the sign-in."),
    lastSeenAt: instant("Time of the last use, accurate to the minute."),
    expiresAt: instant(
      "When the login ends if it is not used again. Each use extends it, up to a maximum lifetime.",
    ),
    isCurrent: z.boolean().meta({ description: "Whether this login made the request." }),
  })
  .meta({ id: "Login", description: "A browser that is signed in on the landing page." });

const doneSchema = z.object({ success }).meta({ id: "Done" });

const secret = z.string().min(1, { error: "must not be empty" }).max(1_000).optional();

/** The token of a login link, or an API key. */
const logInSchema = z
  .strictObject({ token: secret, apiKey: secret })
  .refine(({ token, apiKey }) => (token === undefined) !== (apiKey === undefined), {
    error: "must have either token or apiKey",
  });

export const loginOperations = {
  listLogins: defineOperation({
    method: "GET",
    path: "/actions/logins",
    summary: "List logins",
    description: "Lists the browsers that are signed in, the most recently used first, at most 500.",
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
    auth: { kind: "person" },
    // A person must be able to log out whatever the key may still do.
    scope: null,
    rate: "poll",
    answers: { 200: doneSchema },
  }),
} as const satisfies Record<string, Operation>;

/**
 * Signs in with the token of a login link or with an API key. It is not part of {@link loginOperations}, because its path is also that of
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
