import type { CallToolResult, ToolAnnotations } from "@modelcontextprotocol/sdk/types.js";
import type { z } from "zod";
import type { CallRefusal } from "#db/schema/unions.ts";
import { parseNullsAsAbsent } from "#lib/text/read-nulls-as-absent.ts";
import type { ToolCall } from "#lib/tools/tool.ts";
import type { ClientOffer } from "./client-offer.ts";

/** A call of a tool over MCP that works on a session. */
export type McpCall = McpRequest & Pick<ToolCall, "sessionId" | "browserSessionId" | "rootSessionId">;

/** A call as it arrives, before it is known which session, browser and workspace it works on. */
export type McpRequest = {
  /** `call_…`: the id of the call in the session's events. */
  callId: string;
  client: ClientOffer;
  /** Whether a tool with this name is offered to the caller. */
  hasTool: (name: string) => boolean;
  /** Fires when the caller cancels or disconnects, when its credential is revoked, and at the deadline. */
  signal: AbortSignal;
  /** Reports progress to the caller, if the caller asked for it. */
  progress: (done: number, total: number, message: string) => void;
};

/** A tool as the server lists it. */
export type McpToolInfo = {
  name: string;
  title: string;
  description: string;
  input: z.ZodType;
  /** The schema of `structuredContent` in the tool's results. Omit if the results have none. */
  output?: z.ZodType;
  annotations: ToolAnnotations;
};

/** A tool of the built-in server. */
export type McpTool<Call extends McpRequest = McpCall> = McpToolInfo & {
  /** Whether a call changes pages or files. Such calls are refused while a person must still approve the plan. */
  changes: boolean;
  /** Deadline of a call, in milliseconds. */
  timeoutMs: number;
  /** Acquires a resource for the call, before the deadline starts. @returns a function that releases the resource. */
  acquire?: (call: Call) => Promise<() => void>;
  /** Runs the call. Expected failures are results with `isError`. If it throws, the caller gets the error's message. */
  execute: (input: unknown, call: Call) => Promise<CallToolResult>;
};

type Definition<Input extends z.ZodType, Call extends McpRequest> = Omit<
  McpTool<Call>,
  "input" | "execute"
> & {
  input: Input;
  execute: (input: z.output<Input>, call: Call) => Promise<CallToolResult>;
};

/** Defines a tool. Its `execute` gets the input that was parsed with the schema `input`. */
export const defineMcpTool = <Input extends z.ZodType, Call extends McpRequest = McpCall>(
  definition: Definition<Input, Call>,
): McpTool<Call> => ({
  ...definition,
  execute: (input, call) => definition.execute(parseNullsAsAbsent(definition.input, input), call),
});

/** A page that a person has to open before the call can go on. */
export type McpAsk = { itemId: string; message: string; url: string };

/** Creates a text result. */
export const mcpText = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

/** Creates an error result. The text should say what went wrong and what the caller can do. */
export const mcpError = (text: string): CallToolResult => ({ isError: true, ...mcpText(text) });

/** The key in `_meta` of a result under which the reason for a refusal is stored. */
export const REFUSAL_META = "agent-session-service/refusal";

/** Why a call must not run: the reason, and a sentence for the caller. */
export type McpRefusal = { refusal: CallRefusal; text: string };

/** Creates the error result for a call that was refused. */
export const mcpRefusal = ({ refusal, text }: McpRefusal): CallToolResult => ({
  ...mcpError(text),
  _meta: { [REFUSAL_META]: refusal },
});

/** Creates a structured result. The value is repeated as JSON text for clients that read only text. */
export const mcpValue = (value: Record<string, unknown>): CallToolResult => ({
  ...mcpText(JSON.stringify(value, null, 1)),
  structuredContent: value,
});
