import type { DomainEvent, MissingToolsView } from "../state/view-types.ts";

/**
 * Converts an event about missing tools for the state of the page.
 *
 * @param afterMessageId id of the message that was the newest when the event arrived.
 */
export const toMissingTools = (
  event: Extract<DomainEvent, { kind: "mcp.skipped" }>,
  afterMessageId: string | null,
): MissingToolsView => {
  const { seq, serverId, reason, tools = null, toolCount = null } = event;
  return { seq, serverId, reason, tools, toolCount, afterMessageId };
};

/**
 * Describes the missing tools: `crm is not available in this turn: …`, `2 tools of crm are not available: … (find,
 * pay)`, or `Some tools of crm are not available: …` if neither their number nor their names are known.
 */
export function describeMissingTools({ serverId, reason, tools, toolCount }: MissingToolsView): string {
  if (tools === null) return `${serverId} is not available in this turn: ${reason}`;
  const count = toolCount ?? tools.length;
  if (count === 0) return `Some tools of ${serverId} are not available: ${reason}`;
  const which =
    count === 1
      ? `1 tool of ${serverId} is not available`
      : `${count} tools of ${serverId} are not available`;
  const named = tools.slice(0, NAMED_TOOLS_MAX).join(", ");
  return `${which}: ${reason} (${named}${count > NAMED_TOOLS_MAX ? ", …" : ""})`;
}

const NAMED_TOOLS_MAX = 3;
