import type { Agent } from "node:http";
import { isIP } from "node:net";
import type { AddressRule } from "../address/address-rule.ts";
import { createCheckedLookup } from "../fetch/checked-lookup.ts";
import { GuardedFetchError } from "../fetch/guarded-fetch-error.ts";
import type { OwnOriginRule } from "./own-origin.ts";

/** State shared by forwarded requests and tunnels. `rule` already includes the rule about our own origin. */
export type ProxyContext = {
  rule: Pick<AddressRule, "check" | "checkAddress">;
  own: OwnOriginRule | undefined;
  agent: Agent;
  connectTimeoutMs: number;
  idleTimeoutMs: number;
  /** Reports a failure to `onRefused`, and returns the response header (name, value) for the client. */
  report(url: string, error: GuardedFetchError, clientId: string | undefined): [string, string];
};

/**
 * Returns the connect options for a host, which check its addresses while connecting. Throws a GuardedFetchError of kind
 * "refused" for a forbidden literal address, because Node does not look up literal addresses.
 */
export function routeTo(context: ProxyContext, hostname: string, port: number) {
  const refusal = isIP(hostname) === 0 ? undefined : context.rule.checkAddress(hostname, port);
  if (refusal !== undefined) throw new GuardedFetchError("refused", refusal);
  return { host: hostname, port, lookup: createCheckedLookup(context.rule, port) };
}

/** The error for a server that does not accept a connection or answer in time. */
export function timedOut(host: string): GuardedFetchError {
  return new GuardedFetchError("timeout", `${host} did not answer in time`);
}
