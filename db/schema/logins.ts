import { pgTable, text } from "drizzle-orm/pg-core";
import { createdAt, instant, oneOf } from "./columns.ts";
import { LOGIN_METHODS, type LoginMethod } from "./unions.ts";

/** Logins of operators. A login is a browser that is or was signed in on the service's start page. */
export const logins = pgTable(
  "logins",
  {
    id: text("id").primaryKey(),
    /** HMAC of the cookie's token. */
    tokenHash: text("token_hash").notNull().unique(),
    method: text("method").$type<LoginMethod>().notNull(),
    /** HMAC of the login link's token. It is unique, so that a link can be used only once. */
    linkHash: text("link_hash").unique(),
    /** `issuer`, `subject` and `email` identify the account at the identity provider. */
    issuer: text("issuer"),
    subject: text("subject"),
    email: text("email"),
    userAgent: text("user_agent"),
    createdAt: createdAt(),
    lastSeenAt: instant("last_seen_at").notNull(),
    endedAt: instant("ended_at"),
  },
  (table) => [oneOf("logins_method", table.method, LOGIN_METHODS)],
);
