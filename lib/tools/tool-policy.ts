import type { RunOrigin } from "#db/schema/unions.ts";
import type { Tool } from "./tool.ts";

/** The fields of a tool that the policy uses. */
export type ToolInfo = Readonly<Pick<Tool, "name" | "needs" | "profile">>;

/** The `tools` object of a session: which tools it includes and excludes. Source: specification, Tools object. */
export type ToolPolicy = {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly externalTurnExclude: readonly string[];
};

/** Whether a session has a browser and a sandbox. Source: specification, Capabilities. */
export type Capabilities = { readonly browser: boolean; readonly sandbox: boolean };

/**
 * Whether an entry of a policy list matches a tool name. An entry that ends in `*` matches each name that begins with
 * the text before the `*`. Any other entry matches only the equal name.
 * Source: specification, MCP servers, rule 5.
 */
const matchesName = (entry: string, name: string): boolean =>
  entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : name === entry;

const isNamed = (list: readonly string[], name: string) => list.some((entry) => matchesName(entry, name));

/**
 * Whether a tool belongs to planning, requirements, delegation or skills. Precedence 3, 5 and 6 never remove these
 * tools.
 */
const isOutsidePolicy = (tool: ToolInfo) => tool.profile === "always";

/**
 * Returns the entries of a list that remove no tool of the deployment, because they name no such tool or one outside
 * the policy. Entries for tools of tool servers are left out, because those tools are known only in a turn.
 */
export const listIneffective = (list: readonly string[], tools: readonly ToolInfo[]): string[] =>
  list.filter(
    (entry) =>
      !entry.startsWith("mcp_") &&
      !tools.some((tool) => !isOutsidePolicy(tool) && matchesName(entry, tool.name)),
  );

/** The entry of `tools.approve` for tools of callers' servers that are not declared `destructiveHint: false`. */
const DESTRUCTIVE = "@destructive";

/**
 * Whether calls of a tool need a person's approval, according to a session's `tools.approve`. Tools outside the policy
 * never need one.
 */
export const needsApproval = (
  approve: readonly string[] | undefined,
  tool: Pick<Tool, "name" | "profile" | "isDestructive">,
): boolean =>
  approve !== undefined &&
  tool.profile !== "always" &&
  (isNamed(approve, tool.name) || (tool.isDestructive === true && approve.includes(DESTRUCTIVE)));

/** Precedence 1: returns the named tools that exist in this deployment, and ignores unknown names. */
export const filterExisting = (names: readonly string[], available: readonly ToolInfo[]): ToolInfo[] =>
  available.filter((tool) => names.includes(tool.name));

/** Precedence 2: `capabilities` removes browser or sandbox tools; without a sandbox there is no browser either. */
export const removeIncapable = (tools: readonly ToolInfo[], { browser, sandbox }: Capabilities): ToolInfo[] =>
  tools.filter(({ needs }) => {
    if (needs === "sandbox") return sandbox;
    return needs === "browser" ? sandbox && browser : true;
  });

/** Removes the tools that only sub-agents have. Also removes the delegation tools if the session may not have sub-agents. */
export const removeDelegation = (tools: readonly ToolInfo[], subAgents: boolean): ToolInfo[] =>
  tools.filter(({ needs }) => needs !== "parent" && (needs !== "delegation" || subAgents));

/** Removes the tools that are about a structured result from sessions that have none. */
export const removeStructured = (tools: readonly ToolInfo[], hasOutputSchema: boolean): ToolInfo[] =>
  tools.filter(({ profile }) => hasOutputSchema || profile !== "named");

/** Precedence 3: `outputSchema` narrows the toolset to the analysis profile. */
export const narrowToAnalysis = (tools: readonly ToolInfo[], hasOutputSchema: boolean): ToolInfo[] =>
  tools.filter((tool) => !hasOutputSchema || tool.profile === "analysis" || isOutsidePolicy(tool));

/** Precedence 4: `tools.include` adds named tools back, but no tool that precedence 1 or 2 removed. */
export const addIncluded = (
  tools: readonly ToolInfo[],
  capable: readonly ToolInfo[],
  include: readonly string[],
): ToolInfo[] => capable.filter((tool) => tools.includes(tool) || include.includes(tool.name));

/**
 * Precedence 5: `tools.exclude` removes named tools, even if `tools.include` names them. It removes no tool that is
 * outside the policy.
 */
export const removeExcluded = (tools: readonly ToolInfo[], exclude: readonly string[]): ToolInfo[] =>
  tools.filter((tool) => isOutsidePolicy(tool) || !isNamed(exclude, tool.name));

/**
 * Precedence 6: `tools.externalTurnExclude`, and the list of the deployment, remove named tools from turns that do not come from a person's message in
 * the editor.
 */
export const removeOnExternalTurn = (
  tools: readonly ToolInfo[],
  externalTurnExclude: readonly string[],
  origin: RunOrigin,
): ToolInfo[] => (origin === "person" ? [...tools] : removeExcluded(tools, externalTurnExclude));
