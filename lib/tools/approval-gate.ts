import type { Database } from "#db/client.ts";
import { isApprovedForSession } from "#lib/session/store/approval-store.ts";
import { findSession } from "#lib/session/store/session-store.ts";
import { needsApproval } from "./tool-policy.ts";

/**
 * Whether a call that cannot wait for a person must be refused, because its tool needs approval and is not approved for
 * the session. Such calls are those of in-script helpers and of other agents over MCP.
 */
export async function lacksApproval(
  db: Database,
  { sessionId, rootSessionId }: { sessionId: string; rootSessionId: string },
  toolName: string,
): Promise<boolean> {
  const session = await findSession(db, sessionId);
  if (!session || !needsApproval(session.tools.approve, { name: toolName, profile: "editing" })) return false;
  return !(await isApprovedForSession(db, rootSessionId, toolName));
}
