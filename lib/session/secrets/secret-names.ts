import type { SecretPlace } from "#lib/secrets/sealer.ts";

/** Name of a session's sealed callback secret. */
export const CALLBACK_SECRET = "callback.secret";

/** Name of the callback secret that the last rotation replaced. */
export const PREVIOUS_CALLBACK_SECRET = "callback.secret.previous";

/** Name of the callback URL. The URL is sealed if it may contain secrets; the session's row then has the masked URL. */
export const CALLBACK_URL = "callback.url";

/** Prefix of the names of all secrets of MCP servers. */
export const MCP_SECRETS = "mcpServers.";

/** Returns the name of an MCP server's headers. */
export const nameMcpHeaders = (serverId: string): string => `${MCP_SECRETS}${serverId}.headers`;

/** Returns the name of an MCP server's OAuth credentials. */
export const nameMcpAuth = (serverId: string): string => `${MCP_SECRETS}${serverId}.auth`;

/** Returns the name of an MCP server's URL, which is sealed like {@link CALLBACK_URL}. */
export const nameMcpUrl = (serverId: string): string => `${MCP_SECRETS}${serverId}.url`;

/**
 * Returns the name of what a tool server needs to continue a call that waits for a person. It is sealed, because a
 * server may put anything into it, also what it got in its headers.
 */
export const nameMcpRound = (runId: string, callId: string): string => `mcpRounds.${runId}.${callId}`;

/** Returns the place of a part of a session's site data, see {@link placeSecret}. */
export const placeSiteData = (sessionId: string, name: string): SecretPlace => ({
  table: "site_data",
  row: sessionId,
  column: name,
});

/** Returns the place of the token of a browser host, see {@link placeSecret}. */
export const placeHostToken = (hostId: string): SecretPlace => ({
  table: "browser_hosts",
  row: hostId,
  column: "sealed_token",
});

/**
 * Returns the place of a session's secret in the database. A sealed value can be opened only with the place that it was
 * sealed for.
 */
export const placeSecret = (sessionId: string, name: string): SecretPlace => ({
  table: "sealed_secrets",
  row: sessionId,
  column: name,
});
