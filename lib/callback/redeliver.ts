import type { Database } from "#db/client.ts";
import type { JobSender } from "#lib/session/jobs/job-sender.ts";
import { requestDelivery } from "#lib/session/store/jobs.ts";
import { findDeliveryRow } from "./delivery-list-store.ts";
import { deliveryMachine } from "./delivery-machine.ts";
import { reopenDelivery } from "./delivery-store.ts";
import { describeDelivery, type ListedDelivery } from "./list-deliveries.ts";

/** The result of a request to send a callback again. */
type Redelivery =
  | { status: "reopened"; delivery: ListedDelivery }
  /** The delivery has not ended: its attempts continue. */
  | { status: "open" }
  | { status: "unknown" };

/**
 * Sends a delivered or dropped callback again. The same delivery, with the same bytes and id, gets a new cycle of up to
 * five attempts. Source: `security.md`, What is never lost; `wire.md`, Also served.
 */
export async function redeliver(
  deps: { db: Database; jobs: Pick<JobSender, "plan" | "begin">; clock?: () => Date },
  sessionId: string,
  deliveryId: string,
): Promise<Redelivery> {
  const found = await findDeliveryRow(deps.db, sessionId, deliveryId);
  if (!found) return { status: "unknown" };
  const { row, attempts } = found;
  if (!deliveryMachine.can(row.state, "reopened")) return { status: "open" };
  const state = deliveryMachine.next(row.state, "reopened");
  const job = requestDelivery({ id: row.id, cycle: row.cycle + 1 });
  const now = deps.clock?.() ?? new Date();
  const planned = deps.jobs.plan(job);
  const reopened = await reopenDelivery(deps.db, row, { state }, { now, job, planned });
  // Another request has changed the delivery since it was read, and has reopened it.
  if (!reopened) return { status: "open" };
  deps.jobs.begin(job, planned);
  return { status: "reopened", delivery: describeDelivery({ row: reopened, attempts }) };
}
