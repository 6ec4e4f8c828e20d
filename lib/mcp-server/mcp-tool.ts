import type { CallToolResult, ToolAnnotations } from "@modelcontextprotocol/sdk/types.js";
import type { z } from "zod";
import type { CallRefusal } from "#db/schema/unions.ts";

/** A call of a tool over MCP. */
export type McpCall = {
  sessionId: string;
  /** `call_…`: the id of the call in the session's events. */
  callId: string;
  /** Whether the caller has a tool with this name. */
  hasTool: (name: string) => boolean;
  /** Fires when the caller cancels or disconnects, at the deadline, and when the service shuts down. */
  signal: AbortSignal;
  /** Reports progress to the caller, if the caller asked for it. */
  progress: (done: number, total: number, message: string) => void;
};

/** A tool of the built-in server. */
export type McpTool = {
  name: string;
  title: string;
  description: string;
  input: z.ZodType;
  /** The schema of the result's `structuredContent`, if it has one. */
  output?: z.ZodType;
  annotations: ToolAnnotations;
  /** Whether a call changes pages or files. Such calls are refused while a person has not approved the plan. */
  changes?: boolean | undefined;
  /** Deadline of a call, in milliseconds. */
  timeoutMs: number;
  /** Acquires the resource that the call needs, before the deadline starts. @returns a function that releases it. */
  acquire?: (call: McpCall) => Promise<() => void>;
  /** Runs the call. Expected failures are results with `isError`; the caller gets the message of a thrown error. */
  execute: (input: unknown, call: McpCall) => Promise<CallToolResult>;
};

type Definition<Input extends z.ZodType> = Omit<McpTool, "input" | "execute"> & {
  input: Input;
  execute: (input: z.output<Input>, call: McpCall) => Promise<CallToolResult>;
};

/** Defines a tool. The input has been parsed with `input` before `execute` sees it. */
export const defineMcpTool = <Input extends z.ZodType>(definition: Definition<Input>): McpTool => ({
  ...definition,
  execute: (input, call) => definition.execute(definition.input.parse(input), call),
});

/** A text result. */
export const mcpText = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

/** An error result, which tells the caller what went wrong and what to do. */
export const mcpError = (text: string): CallToolResult => ({ isError: true, ...mcpText(text) });

/** The `_meta` key of the reason why a call was refused. */
export const REFUSAL_META = "agent-session-service/refusal";

/** An error result for a call that was refused, because a person has to approve a plan first. */
export const mcpRefusal = (text: string): CallToolResult => ({
  ...mcpError(text),
  _meta: { [REFUSAL_META]: "plan_first" satisfies CallRefusal },
});

/** A structured result: the value itself, and the same value as JSON text for clients that only read text. */
export const mcpValue = (value: Record<string, unknown>): CallToolResult => ({
  ...mcpText(JSON.stringify(value, null, 1)),
  structuredContent: value,
});
