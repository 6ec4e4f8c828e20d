import type { SchemaChecker } from "#lib/deliverable/admission/create-schema-checker.ts";
import { createCallRounds } from "#lib/mcp-client/call-rounds.ts";
import { createMcpClient } from "#lib/mcp-client/create-mcp-client.ts";
import { MCP_LIMITS } from "#lib/mcp-client/mcp-limits.ts";
import { readServerSecrets } from "#lib/mcp-client/read-server-secrets.ts";
import type { Fetch } from "#lib/mcp-client/tool-server.ts";
import { mcpUrl } from "#lib/mcp-server/mcp-path.ts";
import { type AddressRule, createAddressRule } from "#lib/net/address/address-rule.ts";
import { createGuardedWebFetch } from "#lib/net/fetch/guarded-web-fetch.ts";
import { reportRefusals } from "#lib/net/fetch/report-refusals.ts";
import { mintUserToken } from "#lib/secrets/user-token.ts";
import type { SecurityLog } from "#lib/security-log/security-log.ts";
import type { Elicitations } from "#lib/session/elicitation/elicitation.ts";
import type { Env } from "./env.ts";
import type { Storage } from "./open-storage.ts";

const HOUR_MS = 3_600_000;

/** Creates the client with which sessions use tool servers, including the service's built-in tool server. */
export function connectToolServers(deps: {
  env: Env;
  storage: Pick<Storage, "db" | "sealer">;
  rule: AddressRule;
  elicitations: Elicitations;
  /** Signs the tokens for the built-in tool server. */
  tokenKey: Uint8Array;
  /** The handler of `/api/mcp`, the built-in tool server. */
  serveMcp: (request: Request) => Promise<Response>;
  securityLog: Pick<SecurityLog, "networkRefused">;
  schemas: Pick<SchemaChecker, "validateValue">;
}) {
  const { env, storage, elicitations, tokenKey } = deps;
  // The timeout is as long as a call may take, because a tool may begin its response late. The client has its own
  // timeouts.
  const timeoutMs = MCP_LIMITS.callMs;
  const guarded = createGuardedWebFetch(deps.rule, { protocols: ["https:"], timeoutMs });
  const builtin = openBuiltin(env, deps.serveMcp, timeoutMs);
  const client = createMcpClient({
    elicitations,
    rounds: createCallRounds(storage),
    checkOutput: (schema, value, sessionId) =>
      deps.schemas.validateValue(schema, value, { isAnyRoot: true, ownerId: sessionId }),
    fetch: guarded,
    fetchFor: (sessionId) =>
      reportRefusals(guarded, (refusal) =>
        deps.securityLog.networkRefused({ source: "mcp", sessionId, ...refusal }),
      ),
    readSecrets: (sessionId, serverId) => readServerSecrets(storage, sessionId, serverId),
    builtin: {
      url: builtin.url,
      isOurs: builtin.isOurs,
      fetch: builtin.fetch,
      issueUserToken: (sessionId, audience) =>
        mintUserToken(tokenKey, {
          keyId: null,
          sessionId,
          audience,
          holder: "agent",
          expiresAt: new Date(Date.now() + HOUR_MS),
        }),
    },
  });
  return {
    ...client,
    async close() {
      await client.close();
      await Promise.all([guarded.close(), builtin.close()]);
    },
  };
}

/**
 * Opens the connection to the built-in tool server: within the process, or at the operator's `BUILTIN_MCP_URL`, which
 * may be on any host.
 */
function openBuiltin(env: Env, serveMcp: (request: Request) => Promise<Response>, timeoutMs: number) {
  const defaultUrl = mcpUrl(env.baseUrl);
  const url = env.BUILTIN_MCP_URL ?? defaultUrl;
  if (url === defaultUrl) {
    const fetch: Fetch = (input, init) => serveMcp(new Request(input, init));
    return { url, isOurs: true, fetch, close: async () => {} };
  }
  const rule = createAddressRule({ allow: [new URL(url).host] });
  const fetch = createGuardedWebFetch(rule, { protocols: ["https:", "http:"], timeoutMs });
  return { url, isOurs: false, fetch, close: () => fetch.close() };
}
