/** Path of the built-in MCP server. This file imports no Node modules, because it is also used by Next.js routes. */
export const MCP_PATH = "/api/mcp";

/**
 * Returns the URL of the built-in MCP server. Its tokens are bound to this URL.
 * @param baseUrl the public origin without a trailing slash.
 */
export const mcpUrl = (baseUrl: string): string => `${baseUrl}${MCP_PATH}`;
