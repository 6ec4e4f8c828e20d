import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { describeFirstIssue } from "#lib/api/http/validate.ts";
import { readNullsAsAbsent } from "#lib/text/read-nulls-as-absent.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { describeFailure } from "#lib/tools/describe-failure.ts";
import { type McpRefusal, type McpRequest, type McpTool, mcpError, mcpRefusal } from "./mcp-tool.ts";

/**
 * Calls a tool: validates the input, acquires the tool's resource, starts the deadline, and cuts the result to the size
 * limits. A failure is not thrown but returned as a result that describes the failure.
 *
 * @param refuse called after the resource was acquired. Returns a reason if the call must not run, undefined otherwise.
 */
export async function callMcpTool<Call extends McpRequest>(
  tool: McpTool<Call>,
  input: unknown,
  call: Call,
  refuse: (tool: McpTool<Call>) => Promise<McpRefusal | undefined> = async () => undefined,
): Promise<CallToolResult> {
  const parsed = readNullsAsAbsent(tool.input, input ?? {});
  if (!parsed.success)
    return mcpError(`${tool.name}: ${describeFirstIssue(parsed.error.issues, "arguments")}`);
  let release: (() => void) | undefined;
  try {
    release = await tool.acquire?.(call);
    const refused = await refuse(tool);
    if (refused) return mcpRefusal(refused);
    return await callWithDeadline(tool, input, call);
  } catch (error) {
    if (call.signal.aborted) return stopped(tool);
    return mcpError(`${tool.name}: ${describeFailure(error)}`);
  } finally {
    release?.();
  }
}

async function callWithDeadline<Call extends McpRequest>(
  tool: McpTool<Call>,
  input: unknown,
  call: Call,
): Promise<CallToolResult> {
  const deadline = createDeadline({ ms: tool.timeoutMs, signal: call.signal });
  const describeEnd = () =>
    call.signal.aborted
      ? stopped(tool)
      : mcpError(`${tool.name} timed out after ${tool.timeoutMs / 1_000} s.`);
  const result = await deadline.run((signal) =>
    // `execute` parses the input itself, so it gets the original input, which `callMcpTool` has validated.
    createDeadline({ signal }).race(tool.execute(input ?? {}, { ...call, signal }), describeEnd),
  );
  return cutMcpResult(result);
}

const stopped = ({ name }: { name: string }) => mcpError(`${name} was stopped before it was over.`);

const TEXT_MAX = 200_000;
const PICTURE_BASE64_MAX = 12 * 1_048_576;

/**
 * Applies the size limits to a result: text is cut to 200,000 characters in total, and pictures of more than 9 MiB are
 * left out. A note states each cut and each omission. `structuredContent` is not cut, because an incomplete value would
 * not fit its schema.
 */
function cutMcpResult(result: CallToolResult): CallToolResult {
  let left = TEXT_MAX;
  const content = result.content.map((part): CallToolResult["content"][number] => {
    if (part.type === "image" && part.data.length > PICTURE_BASE64_MAX)
      return { type: "text", text: "[A picture that is too large to be sent.]" };
    if (part.type !== "text") return part;
    const { text } = part;
    const shown = beginningOf(text, left);
    left -= shown.length;
    return text.length === shown.length
      ? part
      : {
          ...part,
          text: `${shown}\n[… ${text.length - shown.length} of ${text.length} characters left out …]`,
        };
  });
  return { ...result, content };
}
