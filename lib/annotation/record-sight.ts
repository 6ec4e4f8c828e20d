import type { EventLog } from "#lib/events/event-log.ts";
import { lockSession } from "#lib/session/store/session-store.ts";
import { findAnnotations } from "./annotation-store.ts";
import { writeState } from "./change-annotation.ts";

/**
 * Records which annotations were looked for on their page, and whether an element of them is there. An open annotation
 * whose elements are gone becomes lost, and a lost one whose element is back becomes open. Others do not change.
 */
export function recordSight(
  deps: { log: EventLog },
  sessionId: string,
  sights: ReadonlyMap<string, boolean>,
): Promise<void> {
  return deps.log.transact(sessionId, async (tx, emit) => {
    const session = await lockSession(tx, sessionId);
    if (!session) return;
    for (const row of await findAnnotations(tx, sessionId, [...sights.keys()])) {
      const isThere = sights.get(row.id) === true;
      if (row.status === "open" && !isThere) await writeState(tx, emit, { row, session }, { status: "lost" });
      if (row.status === "lost" && isThere) await writeState(tx, emit, { row, session }, { status: "open" });
    }
  });
}
