import type { Agent } from "node:http";
import { isIP } from "node:net";
import type { AddressRule } from "../address/address-rule.ts";
import { createCheckedLookup } from "../fetch/checked-lookup.ts";
import { GuardedFetchError } from "../fetch/guarded-fetch-error.ts";
import type { OwnOriginRule } from "./own-origin.ts";

/** What the proxy's two ways of carrying traffic share; `rule` already knows our own origin. */
export type ProxyContext = {
  rule: Pick<AddressRule, "check" | "checkAddress">;
  own: OwnOriginRule | undefined;
  agent: Agent;
  connectTimeoutMs: number;
  idleTimeoutMs: number;
  /** Tells whoever listens about a failure, and answers the header (name, value) that tells the client. */
  report(url: string, error: GuardedFetchError, clientId: string | undefined): [string, string];
};

/**
 * The connect options for a host: its addresses are checked while they are resolved.
 * Throws a GuardedFetchError of kind "refused" for a literal address, which is never resolved.
 */
export function routeTo(context: ProxyContext, hostname: string, port: number) {
  const refusal = isIP(hostname) === 0 ? undefined : context.rule.checkAddress(hostname, port);
  if (refusal !== undefined) throw new GuardedFetchError("refused", refusal);
  return { host: hostname, port, lookup: createCheckedLookup(context.rule, port) };
}

/** The error of a server that lets a connection or an answer wait for too long. */
export function timedOut(host: string): GuardedFetchError {
  return new GuardedFetchError("timeout", `${host} did not answer in time`);
}
