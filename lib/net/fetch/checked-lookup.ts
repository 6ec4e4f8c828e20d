import type { LookupFunction } from "node:net";
import type { AddressRule } from "../address/address-rule.ts";
import { GuardedFetchError } from "./guarded-fetch-error.ts";

/**
 * Creates a resolver for the `lookup` option of `net` and `tls`. It returns the addresses of a host name if the rule
 * allows all of them at this port, and otherwise fails with a GuardedFetchError. The connection uses exactly the
 * checked addresses, so DNS rebinding has no effect. Node does not call the resolver for literal addresses, so the
 * caller must check them.
 */
export function createCheckedLookup(rule: Pick<AddressRule, "check">, port: number): LookupFunction {
  return (hostname, options, callback) => {
    void rule.check({ hostname, port }).then((verdict) => {
      if (!verdict.allowed) {
        const kind = verdict.why === "refused" ? "refused" : "network";
        callback(new GuardedFetchError(kind, verdict.reason), "", 0);
        return;
      }
      const first = verdict.addresses[0];
      if (options.all === true || first === undefined) callback(null, verdict.addresses);
      else callback(null, first.address, first.family);
    });
  };
}
