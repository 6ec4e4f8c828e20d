import type { CallToolResult, ToolAnnotations } from "@modelcontextprotocol/sdk/types.js";
import type { z } from "zod";
import type { CallRefusal } from "#db/schema/unions.ts";

/** A call of a tool over MCP. */
export type McpCall = {
  sessionId: string;
  /** `call_…`: names the call in the session's events. */
  callId: string;
  /** Whether the caller is offered a tool. */
  hasTool: (name: string) => boolean;
  /** Fires when the caller cancels or goes, at the deadline, and when the service ends. */
  signal: AbortSignal;
  /** Tells the caller how far it is, where it asked to be told. */
  progress: (done: number, total: number, message: string) => void;
};

/** A tool as the built-in server offers it. */
export type McpTool = {
  name: string;
  title: string;
  description: string;
  input: z.ZodType;
  /** The shape of `structuredContent`, where the result has one. */
  output?: z.ZodType;
  annotations: ToolAnnotations;
  /** Whether a call changes pages or files: refused while a person wants to agree to a plan first. */
  changes?: boolean | undefined;
  /** Longest a call may take, in milliseconds. */
  timeoutMs: number;
  /** Waits for what the call works on before its deadline starts. @returns the way to give it back. */
  acquire?: (call: McpCall) => Promise<() => void>;
  /** Runs the call. Expected failures are results with `isError`; a throw is told as its message. */
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

/** A result of text. */
export const mcpText = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

/** A result that says what went wrong and what to do. */
export const mcpError = (text: string): CallToolResult => ({ isError: true, ...mcpText(text) });

/** Where a result says why its call was not run. */
export const REFUSAL_META = "agent-session-service/refusal";

/** A result that says that the call was not run, because a person wants to agree to a plan first. */
export const mcpRefusal = (text: string): CallToolResult => ({
  ...mcpError(text),
  _meta: { [REFUSAL_META]: "plan_first" satisfies CallRefusal },
});

/** A result with a shape: as the value, and as JSON for clients that read text alone. */
export const mcpValue = (value: Record<string, unknown>): CallToolResult => ({
  ...mcpText(JSON.stringify(value, null, 1)),
  structuredContent: value,
});
