import type { z } from "zod";
import type { ToolName } from "#lib/catalogue/tools.ts";
import { defineTool, type Tool, type ToolCall, type ToolResult } from "../tool.ts";

/** A tool without its work: what a process of the service needs to offer it. */
type ToolDefinition = Omit<Tool, "execute" | "acquire">;

/** A tool that works on the live page. Its work runs at the browser host. */
export type PageTool<Services> = {
  /** Creates the tool with its work. */
  (
    services: Services,
  ): Omit<Tool, "execute"> & { execute: (input: unknown, call: ToolCall) => Promise<ToolResult> };
  definition: ToolDefinition;
};

/** Defines a tool that works on the live page. @param work creates the function that carries out a call. */
export function pageTool<Input extends z.ZodType, Services>(
  definition: Omit<ToolDefinition, "name" | "input" | "needs" | "profile" | "timeoutMs" | "longestMs"> & {
    name: ToolName;
    input: Input;
    timeoutMs: number;
    longestMs?: (input: z.output<Input>) => number;
  },
  work: (services: Services) => (input: z.output<Input>, call: ToolCall) => Promise<ToolResult | string>,
): PageTool<Services> {
  const make = (services: Services) => defineTool({ ...definition, execute: work(services) });
  const { execute: _, ...defined } = defineTool({ ...definition, execute: async () => "" });
  return Object.assign(make, { definition: defined });
}
