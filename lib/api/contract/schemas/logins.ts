import { z } from "zod";
import { LOGIN_METHODS } from "#db/schema/unions.ts";

const success = z.literal(true);
const instant = (description: string) =>
  z.string().meta({ description: `${description} ISO 8601, UTC.`, examples: ["2026-11-20T09:30:00.000Z"] });

export const loginRecordSchema = z
  .object({
    id: z.string().meta({ examples: ["lgn_h5w2n7q4c6x3m2k5j4d7a3bz"] }),
    method: z.enum(LOGIN_METHODS).meta({
      description: "`link` for a login link, `oidc` for an account at the identity provider.",
    }),
    account: z
      .string()
      .nullable()
      .meta({
        description: "E-mail address or subject of the account. Null for a login link.",
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

export const doneSchema = z.object({ success }).meta({ id: "Done" });

export const logInSchema = z.strictObject({ token: z.string().min(1).max(1_000) });
