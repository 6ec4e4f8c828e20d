import { eq } from "drizzle-orm";
import type { Executor } from "#db/client.ts";
import { agents } from "#db/schema/index.ts";

/** The root of a session's tree: the session itself, if it has no parent. */
export async function findRootOf(db: Executor, sessionId: string): Promise<string> {
  const [row] = await db
    .select({ root: agents.rootSessionId })
    .from(agents)
    .where(eq(agents.sessionId, sessionId));
  return row?.root ?? sessionId;
}

/** A root session and every sub-agent below it. */
export async function listTree(db: Executor, rootSessionId: string): Promise<string[]> {
  const rows = await db
    .select({ id: agents.sessionId })
    .from(agents)
    .where(eq(agents.rootSessionId, rootSessionId));
  return [rootSessionId, ...rows.map(({ id }) => id)];
}
