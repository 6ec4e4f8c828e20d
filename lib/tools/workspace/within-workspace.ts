import type { SandboxService, Workspace } from "#lib/sandbox/sandbox-service.ts";
import { isWorkspaceError } from "#lib/sandbox/workspace-error.ts";
import { errorResult, type ToolCall, type ToolResult } from "../tool.ts";

/**
 * Opens the session's workspace if needed, and runs work in it. A workspace error becomes an error result for the model.
 * If files of the session are missing because they are with another process, an error says so.
 */
export async function withinWorkspace(
  sandbox: SandboxService,
  call: ToolCall,
  work: (workspace: Workspace) => Promise<ToolResult | string>,
): Promise<ToolResult | string> {
  let note: string | undefined;
  try {
    const workspace = await sandbox.open(call.rootSessionId);
    note = workspace.note;
    return await work(workspace);
  } catch (error) {
    if (isWorkspaceError(error)) return errorResult([error.message, ...(note ? [note] : [])].join("; "));
    throw error;
  }
}
