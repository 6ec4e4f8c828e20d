import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { deriveUserTokenKey } from "#lib/secrets/user-token.ts";
import { createRequestListener } from "#lib/server/request-listener.ts";
import { openTestService } from "../testing.ts";

/** Starts a test service with its API on loopback. `connect` connects a client of the official SDK to `/api/mcp`. */
export async function openMcpService(variables: Record<string, string> = {}) {
  const encryptionKey = randomBytes(32);
  const server = createServer((request, response) => handleRequest(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const service = await openTestService({
    PORT: String(port),
    ENCRYPTION_KEY: encryptionKey.toString("base64"),
    ...variables,
  });
  const { container, env } = service;
  const { handleRequest } = createRequestListener({
    container,
    env,
    isDev: false,
    handle: () => Promise.reject(new Error("passed on to Next")),
    logger: { error: () => {} },
  });
  const url = `${env.baseUrl}/api/mcp`;
  const clients: Client[] = [];

  return {
    service,
    url,
    container,
    tokenKey: deriveUserTokenKey(encryptionKey),
    /** Requests a token with `POST …/mcp-token`. */
    async requestToken(sessionId: string): Promise<string> {
      const response = await service.call("POST", `/api/sessions/${sessionId}/mcp-token`);
      return ((await response.json()) as { token: string }).token;
    },
    async connect(token: string): Promise<Client> {
      const client = await connectMcp(url, token);
      clients.push(client);
      return client;
    },
    /** Posts a message directly, without the client of the SDK. */
    post: (token: string | undefined, body: unknown, headers: Record<string, string> = {}) =>
      fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...headers,
        },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    async close() {
      await Promise.all(clients.map((client) => client.close()));
      server.closeAllConnections();
      server.close();
      await service.close();
    },
  };
}

/** Connects a client of the official SDK to an MCP server. */
export async function connectMcp(url: string, token: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
  // The cast is needed because the SDK's own types are incompatible under exactOptionalPropertyTypes.
  await client.connect(transport as Transport);
  return client;
}

export type McpService = Awaited<ReturnType<typeof openMcpService>>;

/** Calls a tool. The cast excludes results of older protocol versions, which the service does not send. */
export const callTool = async (client: Client, name: string, input: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: input })) as CallToolResult;

/** Returns the text of a tool result. */
export const readText = (result: CallToolResult): string =>
  result.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");

/** Returns the sorted names of the tools that the server offers a client. */
export const listNames = async (client: Client): Promise<string[]> =>
  (await client.listTools()).tools.map(({ name }) => name).sort();

/** Starts a site that answers the request for a page only when the test calls `answer`. */
export async function startSlowSite() {
  const requested: string[] = [];
  const waiting = new Map<string, ServerResponse>();
  const aborted: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    requested.push(path);
    waiting.set(path, response);
    response.once("close", () => {
      if (!response.writableFinished) aborted.push(path);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requested,
    aborted,
    answer(path: string, html: string) {
      waiting.get(path)?.writeHead(200, { "content-type": "text/html" }).end(html);
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
