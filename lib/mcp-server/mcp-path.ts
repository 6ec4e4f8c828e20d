/** Where the built-in MCP server is. Kept free of Node's modules: Next's routes ask it too. */
export const MCP_PATH = "/api/mcp";

/** The URL that tokens for it are bound to. @param baseUrl the public origin, without a trailing slash. */
export const mcpUrl = (baseUrl: string): string => `${baseUrl}${MCP_PATH}`;
