import type { Database } from "#db/client.ts";
import type { CallbackEvent, DeliveryState } from "#db/schema/unions.ts";
import { listDeliveryRows } from "./store.ts";

/** A delivery as the API lists it; times are ISO 8601, UTC. Source: `wire.md`, Also served. */
export type ListedDelivery = {
  id: string;
  event: CallbackEvent;
  runId: string;
  state: DeliveryState;
  attempts: { at: string; status: number | null; latencyMs: number; error: string | null }[];
  nextAttemptAt: string | null;
};

/** Where a page begins: the last row of the page before. */
export type PageStart = { createdAt: Date; id: string };

/** One page, and where the next one begins; null after the last. */
export type DeliveryPage = { data: ListedDelivery[]; next: PageStart | null };

/** The deliveries of a session, newest first, `limit` to a page. */
export async function listDeliveries(
  db: Database,
  sessionId: string,
  page: { before?: PageStart; limit: number },
): Promise<DeliveryPage> {
  const found = await listDeliveryRows(db, sessionId, { ...page, limit: page.limit + 1 });
  const shown = found.slice(0, page.limit);
  const last = found.length > page.limit ? shown.at(-1)?.row : undefined;
  return {
    data: shown.map(({ row, attempts }) => ({
      id: row.id,
      event: row.event,
      runId: row.runId,
      state: row.state,
      attempts: attempts.map(({ at, status, latencyMs, error }) => ({
        at: at.toISOString(),
        status,
        latencyMs,
        error,
      })),
      nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
    })),
    next: last ? { createdAt: last.createdAt, id: last.id } : null,
  };
}
