import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { after, before, it } from "node:test";
import {
  callTool,
  listNames,
  type McpService,
  openMcpService,
  readText,
} from "../mcp-server/builtin-mcp-testing.ts";
import { listReports, REPORT } from "./reports-testing.ts";

// The bundler resolves Next's modules without their extension; Node needs it.
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === "next/navigation" ? "next/navigation.js" : specifier, context),
});

let mcp: McpService;
before(async () => {
  mcp = await openMcpService();
});
after(() => mcp.close());

it("the holder of an MCP token does not have publish_qa_report, and calling it publishes nothing", async () => {
  const { sessionId } = await mcp.service.create("Say something.");
  const client = await mcp.connect(await mcp.askToken(sessionId));
  const names = await listNames(client);
  assert.ok(names.includes("list_transcript"));
  assert.ok(!names.includes("publish_qa_report"));
  const answer = await callTool(client, "publish_qa_report", REPORT).then(readText, String);
  assert.doesNotMatch(answer, /Published report/);
  assert.deepEqual(await listReports(mcp.service, sessionId), []);
});
