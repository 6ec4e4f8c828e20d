import { isIP } from "node:net";
import { Agent, buildConnector } from "undici";
import type { AddressRule } from "../address/address-rule.ts";
import { createCheckedLookup } from "./checked-lookup.ts";
import { GuardedFetchError } from "./guarded-fetch-error.ts";

const CONNECT_TIMEOUT_MS = 10_000;
/**
 * Maximum number of cached connectors, one per port. The limit bounds the memory that a caller can fill by trying
 * ports.
 */
const CONNECTORS_MAX = 256;

/**
 * Creates an undici agent that applies the rule when it connects. The rule checks a literal address, or every address
 * that a host name resolves to. The agent ignores proxy settings in the environment and uses HTTP/1.1.
 * `headersTimeoutMs` limits the wait for the response headers, `bodyTimeoutMs` the wait for the next bytes of the body.
 * 0 disables a limit, for callers with a deadline for the whole exchange.
 */
export function createGuardedAgent(
  rule: AddressRule,
  idle: { headersTimeoutMs: number; bodyTimeoutMs: number },
): Agent {
  const connectors = new Map<number, buildConnector.connector>();

  function connectorFor(port: number): buildConnector.connector {
    const existing = connectors.get(port);
    if (existing !== undefined) return existing;
    if (connectors.size >= CONNECTORS_MAX) connectors.clear();
    const connector = buildConnector({
      timeout: CONNECT_TIMEOUT_MS,
      allowH2: false,
      lookup: createCheckedLookup(rule, port),
      // The cast is needed because the type requires a host and a port, which are known only at each call.
    } as buildConnector.BuildOptions);
    connectors.set(port, connector);
    return connector;
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
