import type { RunOrigin } from "#db/schema/unions.ts";
import { BROWSER_TOOLS, CHILD_TOOLS, ROOT_TOOLS } from "#lib/catalogue/tools.ts";
import {
  addIncluded,
  type Capabilities,
  filterExisting,
  narrowToAnalysis,
  removeDelegation,
  removeExcluded,
  removeIncapable,
  removeOnExternalTurn,
  removeStructured,
  type ToolInfo,
  type ToolPolicy,
} from "./tool-policy.ts";

/**
 * Composes the names of a session's tools. Called once, when the session is created. Applies precedence 1 to 5 in this
 * order.
 * Source: specification, Structured sessions, Precedence.
 *
 * @param session.available the tools that exist in this deployment (precedence 1).
 */
export function composeToolset(session: {
  available: readonly ToolInfo[];
  capabilities: Capabilities;
  /** Whether the session may delegate to sub-agents. */
  subAgents: boolean;
  hasOutputSchema: boolean;
  policy: ToolPolicy;
}): string[] {
  const { available, capabilities, subAgents, hasOutputSchema, policy } = session;
  const fitting = removeStructured(removeDelegation(available, subAgents), hasOutputSchema);
  const capable = removeIncapable(fitting, capabilities);
  const narrowed = narrowToAnalysis(capable, hasOutputSchema);
  const included = addIncluded(narrowed, capable, policy.include);
  return removeExcluded(included, policy.exclude).map((tool) => tool.name);
}

/**
 * Returns the names of a sub-agent's tools: the tools of its parent except `ROOT_TOOLS`, and the tools that only a
 * sub-agent has. Browser tools are left out if the sub-agent has no browser. Source: `wire.md`, Sub-agents.
 */
export const narrowToChild = (toolset: readonly string[], hasBrowser: boolean): string[] => [
  ...toolset.filter(
    (name) =>
      !CHILD_TOOLS.includes(name) &&
      !ROOT_TOOLS.includes(name) &&
      (hasBrowser || !BROWSER_TOOLS.includes(name)),
  ),
  ...CHILD_TOOLS,
];

/**
 * Selects the names of one run's tools: the tools of the session's toolset that still exist, then the MCP tools.
 * Precedence 6 removes tools depending on the run's origin; the deployment can add to the session's list. The names of the MCP tools are known only when the run
 * begins, so `exclude` is applied to them here. The analysis profile does not apply to MCP tools.
 */
export function selectRunTools(run: {
  toolset: readonly string[];
  available: readonly ToolInfo[];
  origin: RunOrigin;
  /** The list of the session. */
  externalTurnExclude: readonly string[];
  /** The list of the deployment (`EXTERNAL_TURN_EXCLUDE`), with the same effect. */
  deploymentExclude: readonly string[];
  /** The names of the MCP tools as the agent sees them (`mcp_<id>__<tool>`), and the session's `exclude` list. */
  mcpTools?: { names: readonly string[]; exclude: readonly string[] };
}): string[] {
  const { toolset, available, origin, externalTurnExclude, deploymentExclude, mcpTools } = run;
  const remote = (mcpTools?.names ?? []).map(
    (name): ToolInfo => ({ name, needs: undefined, profile: "editing" }),
  );
  const tools = [...filterExisting(toolset, available), ...removeExcluded(remote, mcpTools?.exclude ?? [])];
  const excluded = [...deploymentExclude, ...externalTurnExclude];
  return removeOnExternalTurn(tools, excluded, origin).map((tool) => tool.name);
}
