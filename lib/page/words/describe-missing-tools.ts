import type { DomainEvent, MissingToolsView } from "../state/view-types.ts";

/** The event of missing tools as the page keeps it. @param afterMessageId the newest message of that moment. */
export const toMissingTools = (
  event: Extract<DomainEvent, { kind: "mcp.skipped" }>,
  afterMessageId: string | null,
): MissingToolsView => {
  const { seq, serverId, reason, tools = null, toolCount = null } = event;
  return { seq, serverId, reason, tools, toolCount, afterMessageId };
};

/** What is missing, and why, as a line: `crm is left out of this turn: …`, `2 tools of crm are left out: … (find, pay)`. */
export function describeMissingTools({ serverId, reason, tools, toolCount }: MissingToolsView): string {
  if (tools === null) return `${serverId} is left out of this turn: ${reason}`;
  const count = toolCount ?? tools.length;
  if (count === 0) return `Some tools of ${serverId} are left out: ${reason}`;
  const which =
    count === 1 ? `1 tool of ${serverId} is left out` : `${count} tools of ${serverId} are left out`;
  const named = tools.slice(0, NAMED).join(", ");
  return `${which}: ${reason} (${named}${count > NAMED ? ", …" : ""})`;
}

const NAMED = 3;
