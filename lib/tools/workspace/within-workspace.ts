import type { SandboxService, Workspace } from "#lib/sandbox/sandbox-service.ts";
import { isWorkspaceError } from "#lib/sandbox/workspace-error.ts";
import { errorResult, type ToolCall, type ToolResult } from "../tool.ts";

/** Opens the session's workspace if needed, and runs work in it. A workspace error becomes an error result for the model. */
export async function withinWorkspace(
  sandbox: SandboxService,
  call: ToolCall,
  work: (workspace: Workspace) => Promise<ToolResult | string>,
): Promise<ToolResult | string> {
  try {
    return await work(await sandbox.open(call.rootSessionId));
  } catch (error) {
    if (isWorkspaceError(error)) return errorResult(error.message);
    throw error;
  }
}
