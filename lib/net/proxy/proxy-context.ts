import type { Agent } from "node:http";
import { isIP } from "node:net";
import type { AddressRule } from "../address/address-rule.ts";
import { createCheckedLookup } from "../fetch/checked-lookup.ts";
import { GuardedFetchError } from "../fetch/guarded-fetch-error.ts";
import type { OwnOriginRule } from "./own-origin.ts";

/** What all forwarded requests and tunnels share. `rule` already includes the rule about our own origin. */
export type ProxyContext = {
  rule: Pick<AddressRule, "check" | "checkAddress">;
  own: OwnOriginRule | undefined;
  agent: Agent;
  connectTimeoutMs: number;
  idleTimeoutMs: number;
  /** Logs a failure and calls the proxy's `onRefused`. @returns the name and value of the client's response header. */
  report(url: string, error: GuardedFetchError, clientId: string | undefined): [string, string];
};

/**
 * Returns connect options whose `lookup` checks the addresses of a host name. Checks a literal address at once, because
 * Node does not call `lookup` for it.
 * @throws GuardedFetchError of kind "refused" for a forbidden literal address.
 */
export function routeTo(context: ProxyContext, hostname: string, port: number) {
  const refusal = isIP(hostname) === 0 ? undefined : context.rule.checkAddress(hostname, port);
  if (refusal !== undefined) throw new GuardedFetchError("refused", refusal);
  return { host: hostname, port, lookup: createCheckedLookup(context.rule, port) };
}

/** Creates the error for a server that does not accept a connection or does not answer in time. */
export function timedOut(host: string): GuardedFetchError {
  return new GuardedFetchError("timeout", `${host} did not answer in time`);
}
