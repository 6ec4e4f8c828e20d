import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { describeFirstIssue } from "../field-error.ts";
import { cutMcpResult } from "./cut-mcp-result.ts";
import { type McpCall, type McpTool, mcpError } from "./mcp-tool.ts";

/**
 * Calls a tool: its input is checked, it has a deadline, and what it answers is kept within the caps. Whatever goes wrong
 * is a result that says so.
 */
export async function callMcpTool(tool: McpTool, input: unknown, call: McpCall): Promise<CallToolResult> {
  const parsed = tool.input.safeParse(input ?? {}, { reportInput: true });
  if (!parsed.success)
    return mcpError(`${tool.name}: ${describeFirstIssue(parsed.error.issues, "arguments")}`);
  const deadline = AbortSignal.timeout(tool.timeoutMs);
  const signal = AbortSignal.any([call.signal, deadline]);
  const { promise: ended, resolve } = Promise.withResolvers<CallToolResult>();
  const onAbort = () =>
    resolve(
      mcpError(
        deadline.aborted && !call.signal.aborted
          ? `${tool.name} timed out after ${tool.timeoutMs / 1_000} s.`
          : `${tool.name} was stopped before it was over.`,
      ),
    );
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    // It has been parsed; a tool parses what it is given itself.
    const running = tool.execute(input ?? {}, { ...call, signal });
    // What a call becomes after its end is nobody's business any more.
    running.catch(() => {});
    return cutMcpResult(await Promise.race([running, ended]));
  } catch (error) {
    return mcpError(`${tool.name}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
