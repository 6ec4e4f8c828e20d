import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { describeFirstIssue } from "#lib/api/http/validate.ts";
import { describeFailure } from "#lib/tools/describe-failure.ts";
import { type McpCall, type McpTool, mcpError, mcpRefusal } from "./mcp-tool.ts";

/**
 * Calls a tool: its input is checked, what it works on is acquired, then its deadline starts; its answer is kept within the
 * caps. Every failure is a result that says what went wrong.
 *
 * @param refuse asked last before the call runs: says why it may not.
 */
export async function callMcpTool(
  tool: McpTool,
  input: unknown,
  call: McpCall,
  refuse: (tool: McpTool) => Promise<string | undefined> = async () => undefined,
): Promise<CallToolResult> {
  const parsed = tool.input.safeParse(input ?? {}, { reportInput: true });
  if (!parsed.success)
    return mcpError(`${tool.name}: ${describeFirstIssue(parsed.error.issues, "arguments")}`);
  let release: (() => void) | undefined;
  try {
    release = await tool.acquire?.(call);
    const refusal = await refuse(tool);
    if (refusal !== undefined) return mcpRefusal(refusal);
    return await callWithDeadline(tool, input, call);
  } catch (error) {
    if (call.signal.aborted) return stopped(tool);
    return mcpError(`${tool.name}: ${describeFailure(error)}`);
  } finally {
    release?.();
  }
}

async function callWithDeadline(tool: McpTool, input: unknown, call: McpCall): Promise<CallToolResult> {
  const deadline = AbortSignal.timeout(tool.timeoutMs);
  const signal = AbortSignal.any([call.signal, deadline]);
  const { promise: ended, resolve } = Promise.withResolvers<CallToolResult>();
  const onAbort = () =>
    resolve(
      deadline.aborted && !call.signal.aborted
        ? mcpError(`${tool.name} timed out after ${tool.timeoutMs / 1_000} s.`)
        : stopped(tool),
    );
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    // It has been parsed; a tool parses what it is given itself.
    const running = tool.execute(input ?? {}, { ...call, signal });
    // A rejection after the deadline or a stop has no reader.
    running.catch(() => {});
    return cutMcpResult(await Promise.race([running, ended]));
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

const stopped = ({ name }: McpTool) => mcpError(`${name} was stopped before it was over.`);

const TEXT_MAX = 200_000;
const PICTURE_BASE64_MAX = 12 * 1_048_576;

/**
 * A result within its caps: text up to 200,000 characters, a picture up to 9 MiB. What is left out is said; a value with a
 * shape is too long as a whole or not at all.
 */
function cutMcpResult(result: CallToolResult): CallToolResult {
  let left = TEXT_MAX;
  const content = result.content.map((part): CallToolResult["content"][number] => {
    if (part.type === "image" && part.data.length > PICTURE_BASE64_MAX)
      return { type: "text", text: "[A picture that is too large to be sent.]" };
    if (part.type !== "text") return part;
    const { text } = part;
    const kept = text.slice(0, left).toWellFormed();
    left -= kept.length;
    return text.length === kept.length
      ? part
      : {
          ...part,
          text: `${kept}\n[… ${text.length - kept.length} of ${text.length} characters left out …]`,
        };
  });
  return { ...result, content };
}
