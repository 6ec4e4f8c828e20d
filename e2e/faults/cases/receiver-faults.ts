import type { FaultCase } from "../fault-case.ts";
import { monotonicMs } from "../recorder/log-line.ts";
import { type Evidence, sumWaits } from "../world/evidence.ts";

type ReceiverFault = {
  hook: string;
  title: string;
  /** The number of finished attempts that each delivery must have. */
  attempts: number;
  state?: "dropped";
  /** Whether the answer comes so shortly before the deadline that it may be late on a busy machine. */
  isNarrow?: boolean;
};

const DEADLINE_MS = 10_000;
/**
 * A late answer of an `isNarrow` receiver is excused if the service waited at least this long for a processor during
 * the attempt.
 */
const NARROW_MS = 50;

const RECEIVER_FAULTS: ReceiverFault[] = [
  { hook: "500-x4", title: "500 four times, then 200", attempts: 5 },
  { hook: "500-x9", title: "500 for good", attempts: 5, state: "dropped" },
  { hook: "wait-9900", title: "answers after 9.9 s", attempts: 1, isNarrow: true },
  { hook: "wait-10100", title: "answers after 10.1 s", attempts: 2 },
  { hook: "drip-headers", title: "headers that drip", attempts: 2 },
  { hook: "drip-body", title: "body that drips", attempts: 2 },
  { hook: "endless", title: "body without an end", attempts: 1 },
  { hook: "redirect", title: "302 to a private address", attempts: 2 },
];

/**
 * The receiver of callbacks misbehaves. Every run must still succeed, and every delivery must end with the expected
 * state.
 */
export const receiverFaults: FaultCase[] = RECEIVER_FAULTS.map((fault) => ({
  name: `receiver-${fault.hook}`,
  group: "receiver",
  title: fault.title,
  seedsMax: 1,
  async play(world) {
    await world.start();
    const created = await world.create("plain", { hook: fault.hook });
    if (created) await world.followUp(created.sessionId, "plain");
    await world.waitUntilIdle();
  },
  findViolations: (evidence) => [
    ...evidence.rows.runs
      .filter((run) => run.state !== "succeeded")
      .map((run) => `${run.id} ended ${run.state}`),
    ...evidence.rows.deliveries
      .filter((row) => row.state !== (fault.state ?? "delivered") || !isExpected(evidence, fault, row.id))
      .map((row) => `${row.event} is ${row.state} after ${row.attemptsFinished} attempts`),
  ],
}));

/**
 * Whether a delivery has the expected number of attempts. An attempt does not count if it missed a narrow deadline
 * because the machine was busy.
 */
function isExpected(evidence: Evidence, { attempts, isNarrow }: ReceiverFault, deliveryId: string): boolean {
  const wallMs = Date.now() - monotonicMs();
  const own = evidence.rows.deliveryAttempts.filter((attempt) => attempt.deliveryId === deliveryId);
  const missed = own.filter(({ at, error, latencyMs }) => {
    const fromMs = at.getTime() - wallMs;
    const isLate = isNarrow && error !== null && latencyMs >= DEADLINE_MS;
    return isLate && sumWaits(evidence, fromMs, fromMs + latencyMs) >= NARROW_MS;
  });
  return own.length - missed.length === attempts;
}
