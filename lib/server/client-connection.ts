import type { IncomingMessage } from "node:http";
import { type Client, readClientAddress } from "#lib/api/http/client-address.ts";
import type { Env } from "./env.ts";

/** Returns the client's address for the security log. Reads it from headers only if proxies are trusted. */
export const addressOf = (request: IncomingMessage, env: Pick<Env, "TRUST_PROXY">): string | undefined =>
  env.TRUST_PROXY.length === 0
    ? request.socket.remoteAddress
    : readClientAddress(connectionOf(request), env.TRUST_PROXY);

/** Returns the addresses that the client of a request comes from. */
export const connectionOf = (request: IncomingMessage): Client => ({
  peer: request.socket.remoteAddress,
  // If a request repeats this header, Node joins the values.
  forwardedFor: request.headers["x-forwarded-for"]?.toString() ?? null,
});
