import type { Tool } from "#lib/tools/tool.ts";
import type { AgentsDeps } from "../agents-deps.ts";
import { cancelAgentTool, listAgentsTool, messageAgentTool } from "./direct.ts";
import { reportProgressTool, submitResultTool } from "./report.ts";
import { spawnAgentsTool } from "./spawn.ts";
import { waitForAgentsTool } from "./wait.ts";

/** The tools of sessions that may delegate, and the tools that only sub-agents have. */
export const agentTools = (deps: AgentsDeps): Tool[] => [
  spawnAgentsTool(deps),
  waitForAgentsTool(deps),
  messageAgentTool(deps),
  listAgentsTool(deps),
  cancelAgentTool(deps),
  submitResultTool(deps),
  reportProgressTool(deps),
];
