import type { SecretPlace } from "#lib/secrets/sealer.ts";

/** The name of a session's callback secret among its sealed ones. */
export const CALLBACK_SECRET = "callback.secret";

/** The name of the callback secret that the last rotation replaced. */
export const PREVIOUS_CALLBACK_SECRET = "callback.secret.previous";

/** The name of the callback URL, sealed where it holds values that may be secret; the session's row has it masked. */
export const CALLBACK_URL = "callback.url";

/** The beginning of the names of all secrets of its MCP servers. */
export const MCP_SECRETS = "mcpServers.";

/** The name of the headers of one of its MCP servers. */
export const nameMcpHeaders = (serverId: string): string => `${MCP_SECRETS}${serverId}.headers`;

/** The name of the URL of one of its MCP servers, sealed as {@link CALLBACK_URL} is. */
export const nameMcpUrl = (serverId: string): string => `${MCP_SECRETS}${serverId}.url`;

/** Where a session's secret lies: it opens only where it was sealed. */
export const placeSecret = (sessionId: string, name: string): SecretPlace => ({
  table: "sealed_secrets",
  row: sessionId,
  column: name,
});
