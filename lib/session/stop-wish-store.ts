import { and, inArray, isNotNull } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { runs } from "#db/schema/index.ts";
import { OPEN_STATES } from "./run-store.ts";

/** Those of the runs that somebody asked to stop and that have not ended. @returns their ids. */
export async function listAskedToStop(db: Database, runIds: string[]): Promise<string[]> {
  if (runIds.length === 0) return [];
  const rows = await db
    .select({ id: runs.id })
    .from(runs)
    .where(
      and(inArray(runs.id, runIds), inArray(runs.state, OPEN_STATES), isNotNull(runs.cancelRequestedAt)),
    );
  return rows.map(({ id }) => id);
}
