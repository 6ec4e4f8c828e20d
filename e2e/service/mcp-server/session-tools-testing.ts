import assert from "node:assert/strict";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { signIn } from "../testing.ts";
import { callTool, type McpService, readText } from "./builtin-mcp-testing.ts";

export type SessionView = {
  sessionId: string;
  state: string;
  isRunning: boolean;
  pageUrl: string;
  result: { status: string; value?: unknown; isValueLeftOut?: boolean; error?: string } | null;
  waitingFor: {
    itemId: string;
    kind: string;
    title: string;
    options?: string[];
    call?: { toolName: string; input: string; isCut: boolean };
    answerUrl?: string;
  }[];
  messages: { seq: number; role: string; text: string; isCut: boolean }[];
};

/** Calls a tool that has to succeed. @returns its structured result. */
export async function callWell<Value = SessionView>(
  client: Client,
  name: string,
  input: Record<string, unknown> = {},
): Promise<Value> {
  const result = await callTool(client, name, input);
  assert.notEqual(result.isError, true, readText(result));
  assert.ok(readText(result) !== "");
  return result.structuredContent as Value;
}

/** Calls a tool that has to fail. @returns its sentence and the code of the HTTP interface. */
export async function callBadly(client: Client, name: string, input: Record<string, unknown> = {}) {
  const result = await callTool(client, name, input);
  assert.equal(result.isError, true, readText(result));
  return { error: readText(result), code: codeOf(result) };
}

const codeOf = ({ _meta }: CallToolResult) => _meta?.["agent-session-service/code"];

/** Starts a session over MCP and waits until it needs its caller. */
export async function startAndWait(client: Client, text: string, more: Record<string, unknown> = {}) {
  const { sessionId } = await callWell(client, "start_session", {
    text,
    capabilities: { browser: false },
    ...more,
  });
  return waitFor(client, sessionId);
}

/** Waits until a session needs its caller. */
export const waitFor = (client: Client, sessionId: string, more: Record<string, unknown> = {}) =>
  callWell(client, "wait_for_session", { sessionId, timeoutSeconds: 60, ...more });

/** Creates an API key of the database. */
export async function createKey(
  { service }: McpService,
  scopes: string[],
): Promise<{ key: string; revoke: () => Promise<void> }> {
  const headers = async () => ({ cookie: await signIn(service), origin: service.env.baseUrl });
  const wanted = { ownerId: "owner", name: "of the test", scopes };
  const created = await service.call("POST", "/actions/keys", wanted, await headers());
  assert.equal(created.status, 201);
  const { key, record } = (await created.json()) as { key: string; record: { id: string } };
  return {
    key,
    async revoke() {
      const revoked = await service.call("DELETE", `/actions/keys/${record.id}`, undefined, await headers());
      assert.ok(revoked.ok);
    },
  };
}
