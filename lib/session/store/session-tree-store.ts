import { eq } from "drizzle-orm";
import type { Executor } from "#db/client.ts";
import { agents } from "#db/schema/index.ts";

/** Finds the root of a session's tree: the session itself if it has no parent. */
export async function findRootOf(db: Executor, sessionId: string): Promise<string> {
  const [row] = await db
    .select({ root: agents.rootSessionId })
    .from(agents)
    .where(eq(agents.sessionId, sessionId));
  return row?.root ?? sessionId;
}

/** Lists the ids of a root session and all its sub-agents. */
export async function listTree(db: Executor, rootSessionId: string): Promise<string[]> {
  const rows = await db
    .select({ id: agents.sessionId })
    .from(agents)
    .where(eq(agents.rootSessionId, rootSessionId));
  return [rootSessionId, ...rows.map(({ id }) => id)];
}
