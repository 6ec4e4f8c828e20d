import { isIP } from "node:net";
import { Agent, buildConnector } from "undici";
import type { AddressRule } from "../address/address-rule.ts";
import { createCheckedLookup } from "./checked-lookup.ts";
import { GuardedFetchError } from "./guarded-fetch-error.ts";

const CONNECT_TIMEOUT_MS = 10_000;
/** TLS settings are cheap; a caller that walks through ports must not make them pile up all the same. */
const CONNECTORS_MAX = 256;

/**
 * An undici agent whose connector applies the rule to the literal address, or to every address that the name
 * resolves to, at the moment of connecting. It reads no proxy from the environment and speaks HTTP/1.1.
 * `headersTimeoutMs` and `bodyTimeoutMs` (idle time; 0 is off) hold where no deadline is over the whole exchange.
 */
export function createGuardedAgent(
  rule: AddressRule,
  idle: { headersTimeoutMs: number; bodyTimeoutMs: number },
): Agent {
  const connectors = new Map<number, buildConnector.connector>();

  function connectorFor(port: number): buildConnector.connector {
    const known = connectors.get(port);
    if (known !== undefined) return known;
    if (connectors.size >= CONNECTORS_MAX) connectors.clear();
    const made = buildConnector({
      timeout: CONNECT_TIMEOUT_MS,
      allowH2: false,
      lookup: createCheckedLookup(rule, port),
      // buildConnector passes these to net.connect, which wants host and port only at the call.
    } as buildConnector.BuildOptions);
    connectors.set(port, made);
    return made;
  }

  return new Agent({
    headersTimeout: idle.headersTimeoutMs,
    bodyTimeout: idle.bodyTimeoutMs,
    allowH2: false,
    connect: (options, callback) => {
      const port = options.port === "" ? (options.protocol === "https:" ? 443 : 80) : Number(options.port);
      const refusal = isIP(options.hostname) === 0 ? undefined : rule.checkAddress(options.hostname, port);
      if (refusal !== undefined) callback(new GuardedFetchError("refused", refusal), null);
      else connectorFor(port)(options, callback);
    },
  });
}
