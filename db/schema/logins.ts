import { pgTable, text } from "drizzle-orm/pg-core";
import { createdAt, instant, oneOf } from "./columns.ts";
import { LOGIN_METHODS, type LoginMethod } from "./unions.ts";

/** Logins of operators and of holders of API keys. A login is a browser that is or was signed in on the landing page. */
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
    /**
     * The API key of a login with the method `key`. No foreign key, because keys from the settings have no rows. The
     * owner and the scopes of the login are those of the key at each request.
     */
    keyId: text("key_id"),
    userAgent: text("user_agent"),
    createdAt: createdAt(),
    lastSeenAt: instant("last_seen_at").notNull(),
    endedAt: instant("ended_at"),
  },
  (table) => [oneOf("logins_method", table.method, LOGIN_METHODS)],
);
