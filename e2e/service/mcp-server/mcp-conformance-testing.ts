import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  type CallToolResult,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  type PromptMessage,
  ReadResourceRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { createBodyReader } from "#lib/api/http/body/body-reader.ts";
import type { McpServerDeps } from "#lib/mcp-server/answer-requests.ts";
import { callMcpTool } from "#lib/mcp-server/call-mcp-tool.ts";
import { createCallsInFlight } from "#lib/mcp-server/calls-in-flight.ts";
import { createMcpServer } from "#lib/mcp-server/create-mcp-server.ts";
import { createStatelessServer } from "#lib/mcp-server/create-stateless-server.ts";
import { createMcpEndpoint, type McpServerPort } from "#lib/mcp-server/mcp-endpoint.ts";
import { defineMcpTool, type McpCall, type McpTool, mcpText } from "#lib/mcp-server/mcp-tool.ts";
import { sendResponse, toWebRequest } from "#lib/server/web-messages.ts";

// Serves the tools, resources and prompts that the official conformance suite expects, with the code of the built-in
// server's endpoint.

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const text = (words: string) => ({ type: "text" as const, text: words });
const picture = { type: "image" as const, data: PNG, mimeType: "image/png" };
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

type Log = (words: string) => Promise<void>;

/** Creates the tools that the suite calls. `log` sends the client a log message at level `info`. */
function createTools(log: Log) {
  const address = z.object({ street: z.string(), city: z.string() }).partial().meta({ id: "address" });
  const define = (
    name: string,
    execute: (call: McpCall) => Promise<CallToolResult> | CallToolResult,
    input: z.ZodType = z.strictObject({}),
  ) =>
    defineMcpTool({
      name,
      title: name,
      description: `The suite's ${name}`,
      input,
      annotations: {},
      changes: false,
      timeoutMs: 10_000,
      execute: async (_input, call) => execute(call),
    });
  const answer = (...content: CallToolResult["content"]) => ({ content });
  const resource = (uri: string, mimeType: string, words: string) => ({
    type: "resource" as const,
    resource: { uri, mimeType, text: words },
  });

  return [
    define("test_simple_text", () => mcpText("This is a simple text response for testing.")),
    define("test_image_content", () => answer(picture)),
    define("test_audio_content", () => answer({ type: "audio", data: WAV, mimeType: "audio/wav" })),
    define("test_embedded_resource", () =>
      answer(resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")),
    ),
    define("test_multiple_content_types", () =>
      answer(
        text("Multiple content types test:"),
        picture,
        resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
      ),
    ),
    define("test_error_handling", () => {
      throw new Error("This tool intentionally returns an error for testing");
    }),
    define("test_tool_with_progress", async ({ progress }) => {
      for (const done of [0, 50, 100]) {
        progress(done, 100, `${done} of 100`);
        await pause();
      }
      return mcpText("done");
    }),
    define("test_tool_with_logging", async () => {
      for (const words of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await log(words);
        await pause();
      }
      return mcpText("done");
    }),
    define(
      "json_schema_2020_12_tool",
      () => mcpText("done"),
      z.strictObject({ name: z.string().optional(), address: address.optional() }),
    ),
  ];
}

function addResources(server: Server): void {
  const listed = (uri: string, mimeType: string) => ({ uri, mimeType, name: uri, description: uri });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: [listed("test://static-text", "text/plain"), listed("test://static-binary", "image/png")],
  }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template" }],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    if (uri === "test://static-binary") return { contents: [{ uri, mimeType: "image/png", blob: PNG }] };
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
    const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return id
      ? { contents: [{ uri, mimeType: "application/json", text: data }] }
      : {
          contents: [
            { uri, mimeType: "text/plain", text: "This is the content of the static text resource." },
          ],
        };
  });
  server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
}

const PROMPTS: Record<string, (given: Record<string, string>) => PromptMessage["content"][]> = {
  test_simple_prompt: () => [text("This is a simple prompt for testing.")],
  test_prompt_with_arguments: ({ arg1, arg2 }) => [
    text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
  ],
  test_prompt_with_embedded_resource: ({ resourceUri = "" }) => [
    {
      type: "resource",
      resource: {
        uri: resourceUri,
        mimeType: "text/plain",
        text: "Embedded resource content for testing.",
      },
    },
    text("Please process the embedded resource above."),
  ],
  test_prompt_with_image: () => [picture, text("Please analyze the image above.")],
};

function addPrompts(server: Server): void {
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: Object.keys(PROMPTS).map((name) => ({ name, description: name })),
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => ({
    messages: (PROMPTS[params.name]?.(params.arguments ?? {}) ?? []).map((content) => ({
      role: "user" as const,
      content,
    })),
  }));
  server.setRequestHandler(CompleteRequestSchema, () => ({ completion: { values: [], total: 0 } }));
}

/** Describes a server with these tools, which calls them like the built-in server. */
const describeServer = (
  tools: readonly McpTool[],
  logger: { error: () => void },
): McpServerDeps<McpTool> => ({
  logFields: {},
  client: { opensPages: false, fillsForms: false, hasTasks: false },
  tools,
  instructions: "",
  call: (tool, input, call) =>
    callMcpTool(tool, input, {
      ...call,
      sessionId: "ses_suite",
      browserSessionId: "ses_suite",
      rootSessionId: "ses_suite",
    }),
  logger,
});

/**
 * Opens a server that handles one message. It handles tools like the built-in server, and also provides the resources,
 * prompts and requests that the suite expects.
 */
function openServer(logger: { error: () => void }): McpServerPort {
  let requestId: string | number | undefined;
  const log: Log = (data) =>
    server.notification(
      { method: "notifications/message", params: { level: "info", data } },
      { ...(requestId !== undefined && { relatedRequestId: requestId }) },
    );
  const server = createMcpServer(describeServer(createTools(log), logger));
  server.registerCapabilities({ resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} });
  addResources(server);
  addPrompts(server);
  server.setRequestHandler(SetLevelRequestSchema, () => ({}));
  return {
    close: () => server.close(),
    async connect(transport) {
      await server.connect(transport);
      const { onmessage } = transport;
      transport.onmessage = (message, extra) => {
        if ("id" in message) requestId = message.id;
        onmessage?.(message, extra);
      };
    },
  };
}

/** Starts a server on loopback for the conformance suite. */
export async function startConformanceServer(): Promise<{ url: string; close: () => void }> {
  const logger = { error: () => {} };
  const inFlight = createCallsInFlight({ publish: () => {}, subscribe: () => () => {} });
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", baseUrl);
    void serve(toWebRequest(request, response, url)).then((answer) => sendResponse(response, answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const serve = createMcpEndpoint({
    baseUrl,
    inFlight,
    logger,
    bodies: createBodyReader(),
    open: () => openServer(logger),
    // The revision 2026-07-28 has no log messages during a call.
    openStateless: () =>
      createStatelessServer(
        describeServer(
          createTools(async () => {}),
          logger,
        ),
      ),
    admit: async () => ({
      ok: true,
      holder: { key: "anybody", grant: undefined, ownerId: "test" },
    }),
    access: { watch: () => () => {} },
  });
  return {
    url: `${baseUrl}/mcp`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
