/** Creates a `tools/list` request to the built-in MCP server with a session's user token. */
export const listToolsRequest = (token: string) => ({
  method: "POST",
  headers: {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  },
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
});
