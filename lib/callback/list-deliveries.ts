import type { Database } from "#db/client.ts";
import type { CallbackEvent, DeliveryState } from "#db/schema/unions.ts";
import { listDeliveryRows } from "./delivery-list-store.ts";
import type { AttemptRow, DeliveryRow } from "./delivery-store.ts";

/** A delivery as the API lists it; times are ISO 8601, UTC. Source: `wire.md`, Also served. */
export type ListedDelivery = {
  id: string;
  event: CallbackEvent;
  runId: string;
  state: DeliveryState;
  /** The finished attempts of all cycles; a redelivery begins a new cycle. */
  attempts: {
    cycle: number;
    at: string;
    status: number | null;
    latencyMs: number;
    error: string | null;
    /** The beginning of the receiver's answer, as plain text. */
    excerpt: string | null;
  }[];
  nextAttemptAt: string | null;
};

/** One page of deliveries; `nextCursor` is null on the last page. */
type DeliveryPage = { data: ListedDelivery[]; nextCursor: string | null };

/** Returns one page of the deliveries of a session, newest first. */
export async function listDeliveries(
  db: Database,
  sessionId: string,
  page: { cursor?: string; limit: number },
): Promise<DeliveryPage> {
  const found = await listDeliveryRows(db, sessionId, { ...page, limit: page.limit + 1 });
  const shown = found.slice(0, page.limit);
  const nextCursor = found.length > page.limit ? (shown.at(-1)?.row.id ?? null) : null;
  return {
    data: shown.map(describeDelivery),
    nextCursor,
  };
}

/** Converts a delivery and its attempts to the form in which the API lists them. */
export const describeDelivery = (found: { row: DeliveryRow; attempts: AttemptRow[] }): ListedDelivery => ({
  id: found.row.id,
  event: found.row.event,
  runId: found.row.runId,
  state: found.row.state,
  attempts: found.attempts.map(({ cycle, at, status, latencyMs, error, excerpt }) => ({
    cycle,
    at: at.toISOString(),
    status,
    latencyMs,
    error,
    excerpt,
  })),
  nextAttemptAt: found.row.state === "pending" ? (found.row.nextAttemptAt?.toISOString() ?? null) : null,
});
