import type { SessionRow } from "#lib/session/session-store.ts";
import type { Tool } from "#lib/tools/tool.ts";
import { selectRunTools } from "#lib/tools/toolset.ts";
import type { McpHolder } from "./admit-holder.ts";
import type { McpTool } from "./mcp-tool.ts";
import { isCallableFromOutside, toMcpTool } from "./session-tool.ts";
import type { Utility } from "./tools/index.ts";

/** A tool that is offered, and its name in the session's policy and events. */
type OfferedTool = { tool: McpTool; knownAs: string };

const knownAs = (tool: McpTool): string => `mcp_builtin__${tool.name}`;

/**
 * What the holder of a session's user token is offered. The session's agent gets the utilities, which are not among its
 * own tools, so that it cannot walk around a policy; others' agents also get what the policy leaves of the session's tools
 * on a turn that no person started. `capabilities` and `tools.exclude` rule over both.
 * Source: `security.md`, Built-in MCP server; specification, Structured sessions, Precedence.
 */
export function createToolOffer(
  utilities: readonly Utility[],
  tools: readonly Tool[],
): (holder: Pick<McpHolder, "holder" | "session">) => OfferedTool[] {
  const ofSessions = tools
    .filter(isCallableFromOutside)
    .map((tool): OfferedTool => ({ tool: toMcpTool(tool), knownAs: tool.name }));
  const ofServer = utilities.map((utility) => ({ ...utility, knownAs: knownAs(utility.tool) }));

  return ({ holder, session }) => {
    const names = ofServer.flatMap(({ needs, knownAs: name }) => (isCapable(session, needs) ? [name] : []));
    const left = new Set(
      selectRunTools({
        toolset: holder === "other" ? session.toolset : [],
        available: tools,
        origin: "external",
        // The agent's own turn knows who started it, and applies this list itself.
        externalTurnExclude: holder === "other" ? session.tools.externalTurnExclude : [],
        mcpTools: { names, exclude: session.tools.exclude },
      }),
    );
    return [...ofSessions, ...ofServer].flatMap(({ tool, knownAs: name }) =>
      left.has(name) ? [{ tool, knownAs: name }] : [],
    );
  };
}

/** The browser runs inside the sandbox: without one there is neither. */
const isCapable = ({ capabilities }: SessionRow, needs: Utility["needs"]): boolean =>
  needs === undefined || (capabilities.browser && capabilities.sandbox);
