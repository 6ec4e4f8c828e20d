import type { SecretPlace } from "#lib/secrets/sealer.ts";

/** The name of a session's callback secret among its sealed ones. */
export const CALLBACK_SECRET = "callback.secret";

/** The name of the headers of one of its MCP servers among them. */
export const nameMcpHeaders = (serverId: string): string => `mcpServers.${serverId}.headers`;

/** Where a session's secret lies: it opens only where it was sealed. */
export const placeSecret = (sessionId: string, name: string): SecretPlace => ({
  table: "sealed_secrets",
  row: sessionId,
  column: name,
});
