import type { SessionRow } from "#lib/session/store/session-store.ts";
import { leaveOutMissing } from "#lib/tools/leave-out-missing.ts";
import type { Tool } from "#lib/tools/tool.ts";
import { selectRunTools } from "#lib/tools/toolset.ts";
import type { TokenHolder } from "./admit-holder.ts";
import type { McpTool } from "./mcp-tool.ts";
import { isCallableFromOutside, toMcpTool } from "./session-tool.ts";
import type { Utility } from "./tools/index.ts";

/** A tool that the holder of a token may call. `policyName` is its name in the session's policy and events. */
type OfferedTool = { tool: McpTool; policyName: string };

const toPolicyName = (tool: McpTool): string => `mcp_builtin__${tool.name}`;

/**
 * Creates the function that selects the tools for the holder of a user token. The session's own agent gets only the
 * utilities; if it also had its other tools here, it could bypass the policy of its turn. Other agents get the
 * utilities, and those tools of the session that the policy allows in a turn that no person started. `capabilities` and
 * `tools.exclude` apply to all holders. Source: `security.md`, Built-in MCP server; specification, Structured sessions,
 * Precedence.
 *
 * @param tools the tools that this deployment has. Without browser tools among them, it has no browser.
 * @param deploymentExclude the tools that the deployment excludes from turns that no person started.
 */
export function createToolOffer(
  utilities: readonly Utility[],
  tools: readonly Tool[],
  deploymentExclude: readonly string[],
): (holder: Pick<TokenHolder, "holder" | "session">) => OfferedTool[] {
  const sessionTools = tools
    .filter(isCallableFromOutside)
    .map((tool): OfferedTool => ({ tool: toMcpTool(tool), policyName: tool.name }));
  const hasBrowser = tools.some(({ needs }) => needs === "browser");
  const hasFiles = tools.some(({ name }) => name === "list_files");
  const serverTools = utilities
    .filter(({ needs }) => needs === undefined || hasBrowser)
    .map((utility) => ({ ...utility, policyName: toPolicyName(utility.tool) }));

  return ({ holder, session }) => {
    const names = serverTools.flatMap(({ needs, policyName: name }) =>
      isCapable(session, needs) ? [name] : [],
    );
    const allowed = new Set(
      selectRunTools({
        toolset: holder === "other" ? session.toolset : [],
        available: tools,
        origin: "external",
        // These lists are not applied to the session's own agent: its turn applies them, because only the turn knows
        // whether a person started it.
        externalTurnExclude: holder === "other" ? session.tools.externalTurnExclude : [],
        deploymentExclude: holder === "other" ? deploymentExclude : [],
        mcpTools: { names, exclude: session.tools.exclude },
      }),
    );
    const has = {
      tool: (name: string) => allowed.has(name),
      workspace: hasFiles && session.capabilities.sandbox,
    };
    const tell = (tool: McpTool) => ({ ...tool, description: leaveOutMissing(tool.description, has) });
    const isAllowed = ({ policyName }: { policyName: string }) => allowed.has(policyName);
    return [
      ...sessionTools.filter(isAllowed).map(({ tool, policyName }) => ({ tool: tell(tool), policyName })),
      ...serverTools.filter(isAllowed).map(({ tool, policyName }) => ({ tool, policyName })),
    ];
  };
}

/**
 * Whether the session can use a utility. A utility that needs the browser needs both capabilities, because the browser
 * runs inside the sandbox.
 */
const isCapable = ({ capabilities }: SessionRow, needs: Utility["needs"]): boolean =>
  needs === undefined || (capabilities.browser && capabilities.sandbox);
