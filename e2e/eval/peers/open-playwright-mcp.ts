import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { type CallToolResult, CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { dynamicTool, jsonSchema, type ToolSet } from "ai";
import type { OpenPeer } from "./peer.ts";

/** Starts `@playwright/mcp` with its default tools. */
export const openPlaywrightMcp: OpenPeer = async (folder, chromium) => {
  const home = await mkdtemp(join(tmpdir(), "playwright-mcp-"));
  const client = new Client({ name: "eval", version: "1" });
  const program = join(folder, "node_modules/@playwright/mcp/cli.js");
  const flags = ["--headless", "--isolated", "--no-sandbox", "--executable-path", chromium];
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, ...flags],
      cwd: home,
      env: { ...getDefaultEnvironment(), HOME: home },
      stderr: "ignore",
    }),
  );
  const counts = { toolCalls: 0, toolErrors: 0 };
  const { tools: listed } = await client.listTools();
  const tools: ToolSet = Object.fromEntries(
    listed.map(({ name, description, inputSchema }) => [
      name,
      dynamicTool({
        ...(description !== undefined && { description }),
        inputSchema: jsonSchema<Record<string, unknown>>(inputSchema),
        async execute(input) {
          const call = { name, arguments: input as Record<string, unknown> };
          const result = await client.callTool(call, CallToolResultSchema);
          counts.toolCalls += 1;
          if (result.isError) counts.toolErrors += 1;
          return result;
        },
        toModelOutput: ({ output }) => ({ type: "content", value: toContent(output as CallToolResult) }),
      }),
    ]),
  );
  return {
    instructions: [client.getInstructions(), "You do tasks in a web browser with the tools."]
      .filter(Boolean)
      .join("\n"),
    tools,
    countCalls: () => counts,
    async close() {
      await client.close();
      await rm(home, { recursive: true, force: true });
    },
  };
};

const toContent = ({ content }: CallToolResult) =>
  content.map((part) =>
    part.type === "image"
      ? {
          type: "file" as const,
          mediaType: part.mimeType,
          data: { type: "data" as const, data: part.data },
        }
      : { type: "text" as const, text: part.type === "text" ? part.text : JSON.stringify(part) },
  );
