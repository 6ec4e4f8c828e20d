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

/** One page; `nextCursor` is null after the last. */
export type DeliveryPage = { data: ListedDelivery[]; nextCursor: string | null };

/** The deliveries of a session, newest first, `limit` to a page. */
export async function listDeliveries(
  db: Database,
  sessionId: string,
  page: { cursor?: string; limit: number },
): Promise<DeliveryPage> {
  const found = await listDeliveryRows(db, sessionId, { ...page, limit: page.limit + 1 });
  const shown = found.slice(0, page.limit);
  const nextCursor = found.length > page.limit ? (shown.at(-1)?.row.id ?? null) : null;
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
      nextAttemptAt: row.state === "pending" ? (row.nextAttemptAt?.toISOString() ?? null) : null,
    })),
    nextCursor,
  };
}
