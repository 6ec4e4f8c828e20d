import { setImmediate as yieldToOthers } from "node:timers/promises";
import { z } from "zod";
import { describeInput } from "#lib/projection/describe-input.ts";
import { shorten } from "#lib/text/shorten.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import type { McpLimits } from "../mcp-limits.ts";
import type { RawListing } from "./list-tools.ts";
import { measureBytes } from "./list-tools.ts";
import { type ParamHeader, readParamHeaders } from "./param-headers.ts";

/** A tool of a server, in the form in which it is offered to the agent. */
export type RemoteTool = {
  /** The tool's name for the agent: `mcp_<serverId>__<tool>`. */
  name: string;
  serverId: string;
  /** The tool's name on the server. */
  tool: string;
  description: string;
  inputSchema: Record<string, unknown>;
  /** Whether the server says that the tool changes nothing. */
  isReadOnly: boolean;
  /** Whether the server says that repeating a call has no further effect, or that the tool changes nothing. */
  isIdempotent: boolean;
  /** Whether the server does not say that the tool destroys nothing. */
  isDestructive: boolean;
  /** Set if the tool has to be called as a task. */
  isTask?: true;
  /** The parameters that are also sent as headers; omitted if there are none. */
  paramHeaders?: ParamHeader[];
  /** The schema of the tool's structured content as JSON text, if it is small enough to be checked. */
  outputSchema?: string;
};

/**
 * Why a turn lacks tools of a server. `tools` names the missing tools (20 at most), and `toolCount` is their number. If
 * `tools` is undefined, all tools of the server are missing. If `tools` is empty, the server's list was cut, and the
 * names of the missing tools are not known.
 */
export type Skipped = { serverId: string; reason: string; tools?: string[]; toolCount?: number };

const toolSchema = z.looseObject({
  name: z.string().min(1),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.unknown().optional(),
  outputSchema: z.unknown().optional(),
  execution: z.looseObject({ taskSupport: z.unknown().optional() }).optional().catch(undefined),
  annotations: z
    .looseObject({
      title: z.string().optional().catch(undefined),
      readOnlyHint: z.boolean().optional().catch(undefined),
      idempotentHint: z.boolean().optional().catch(undefined),
      destructiveHint: z.boolean().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

/** A provider refuses the whole model call if one tool name does not match. Source: `facts.md`, MCP. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** How long schemas may be read before other work gets the thread, in milliseconds. */
const BUSY_MAX_MS = 10;
const NAMED_MAX = 20;
const NAMED_LENGTH = 100;

export const toToolName = (serverId: string, tool: string): string => `mcp_${serverId}__${tool}`;

/**
 * Selects the tools of a server's list that the agent gets: those with a valid, unique name and a schema that providers
 * accept, up to the limit for one server.
 *
 * @param usedNames the names already in use; the names of the admitted tools are added.
 */
export async function admitTools(
  serverId: string,
  listing: RawListing,
  limits: McpLimits,
  usedNames: Set<string>,
): Promise<{ tools: RemoteTool[]; skipped: Skipped[] }> {
  const tools: RemoteTool[] = [];
  const refused = new Map<string, string[]>();
  let since = performance.now();
  for (const raw of listing.tools) {
    if (performance.now() - since > BUSY_MAX_MS) {
      await yieldToOthers();
      since = performance.now();
    }
    const judged = admitTool(serverId, raw, { limits, usedNames, listing });
    const reason =
      "reason" in judged
        ? judged.reason
        : tools.length === limits.toolsPerServerMax
          ? `a server may have at most ${limits.toolsPerServerMax} tools`
          : undefined;
    if (reason !== undefined) refused.set(reason, [...(refused.get(reason) ?? []), judged.tool]);
    else if (!("reason" in judged)) {
      usedNames.add(judged.name);
      tools.push(judged);
    }
  }
  const skipped = [...refused].map(([reason, names]) => skipTools(serverId, reason, names));
  if (listing.isCut)
    skipped.push({
      serverId,
      reason: `its list of tools is longer than ${listing.tools.length}, or repeats itself, or has a cursor that is too long; the rest was left out`,
      tools: [],
    });
  return { tools, skipped };
}

/** Describes tools that were left out for the same reason; only the first 20 are named. */
export const skipTools = (serverId: string, reason: string, tools: string[]): Skipped => ({
  serverId,
  reason,
  tools: tools.slice(0, NAMED_MAX).map((tool) => beginningOf(tool, NAMED_LENGTH).toWellFormed()),
  toolCount: tools.length,
});

function admitTool(
  serverId: string,
  raw: unknown,
  about: { limits: McpLimits; usedNames: ReadonlySet<string>; listing: RawListing },
): RemoteTool | { tool: string; reason: string } {
  const { limits, usedNames, listing } = about;
  const parsed = toolSchema.safeParse(raw);
  if (!parsed.success) return { tool: "(unnamed)", reason: "it is not a tool as the protocol describes one" };
  const { name: tool, title, description, annotations, inputSchema, outputSchema, execution } = parsed.data;
  const name = toToolName(serverId, tool);
  if (!NAME.test(name))
    return {
      tool,
      reason: `its name, as ${toToolName(serverId, "<tool>")}, is not 1 to 64 letters, digits, _ or -`,
    };
  if (usedNames.has(name)) return { tool, reason: "another tool has its name" };
  const isTask = execution?.taskSupport === "required";
  if (isTask && !listing.hasTasks)
    return {
      tool,
      reason: "it has to be called as a task, and its server does not offer to run tool calls as tasks",
    };
  if (measureBytes(inputSchema ?? {}) > limits.listedSchemaBytesMax)
    return { tool, reason: `its input schema is larger than ${limits.listedSchemaBytesMax} bytes` };
  const paramHeaders = listing.isStateless ? readParamHeaders(inputSchema) : [];
  if (!paramHeaders)
    return { tool, reason: "its input schema declares headers that the protocol does not allow" };
  const described = describeInput(inputSchema ?? {});
  if (!described) return { tool, reason: "its input schema does not describe an object" };
  if (measureBytes(described) > limits.schemaBytesMax)
    return {
      tool,
      reason: `what the model would read of its input schema is larger than ${limits.schemaBytesMax} bytes`,
    };
  const isReadOnly = annotations?.readOnlyHint ?? false;
  return {
    name,
    serverId,
    tool,
    description: cut(description ?? title ?? annotations?.title ?? "", limits.descriptionMax),
    inputSchema: described,
    isReadOnly,
    isIdempotent: isReadOnly || (annotations?.idempotentHint ?? false),
    isDestructive: annotations?.destructiveHint ?? true,
    ...(isTask && { isTask }),
    ...(paramHeaders.length > 0 && { paramHeaders }),
    // As text, because the schema may be nested deeply.
    ...((outputSchema ?? null) !== null &&
      measureBytes(outputSchema) <= limits.schemaBytesMax && { outputSchema: JSON.stringify(outputSchema) }),
  };
}

const cut = (text: string, most: number): string => shorten(text, most).toWellFormed();
