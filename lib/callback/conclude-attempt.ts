import type { DeliveryDeps } from "./delivery-deps.ts";
import { deliveryMachine } from "./delivery-machine.ts";
import type { DeliveryRow, DeliveryToMake, EndpointReport } from "./delivery-store.ts";
import { probeDelayMs } from "./endpoint/held-delivery-store.ts";
import { ATTEMPTS_MAX, retryDelayMs } from "./retry-schedule.ts";
import type { Exchange } from "./send-callback.ts";

/**
 * What follows an attempt. `delivered` and `dropped` end the cycle; `dropped` is also the outcome if a newer cycle has
 * begun, or if the delivery or its session is gone. `held`: the endpoint is disabled; the delivery gets a new job when
 * it is released. `retry`: make attempt `number` after `delayMs`. `wait`: nothing was sent; make the same attempt after
 * `delayMs`.
 */
export type AttemptOutcome =
  | { state: "delivered" }
  | { state: "dropped" }
  | { state: "held" }
  | { state: "retry"; number: number; delayMs: number }
  | { state: "wait"; delayMs: number };

type Rules = Pick<DeliveryDeps, "schedule" | "disableAfterMs">;

const isDisabled = ({ disableAfterMs = 0 }: Pick<Rules, "disableAfterMs">, { disabledAt }: DeliveryToMake) =>
  disableAfterMs > 0 && disabledAt !== null;

/**
 * Whether a delivery has to wait until its endpoint works again. A redelivery (every cycle after the first) is also sent
 * to a disabled endpoint, because a client has requested it.
 */
export const mustHold = (rules: Pick<Rules, "disableAfterMs">, delivery: DeliveryToMake): boolean =>
  isDisabled(rules, delivery) && delivery.row.cycle === 1 && delivery.probeId !== delivery.row.id;

const isProbe = (rules: Pick<Rules, "disableAfterMs">, delivery: DeliveryToMake): boolean =>
  isDisabled(rules, delivery) && delivery.row.cycle === 1 && delivery.probeId === delivery.row.id;

/**
 * Returns how an attempt changes the state of its endpoint; null if the state stays the same. A dropped delivery counts
 * as a failure of its endpoint, except if this service could not send the last attempt. An accepted delivery clears the
 * failures of its endpoint. Failures that are recorded during the attempt are not seen here; the next accepted delivery
 * clears them.
 *
 * @param settled the delivery after the attempt.
 */
export function reportEndpoint(
  rules: Rules,
  delivery: DeliveryToMake,
  settled: DeliveryRow,
  { isOurs = false }: Exchange,
): EndpointReport | null {
  const { ownerId, host, failingSince } = delivery;
  const endpoint = { ownerId, host: host ?? "", disableAfterMs: rules.disableAfterMs ?? 0 };
  if (settled.state === "delivered")
    return failingSince === null ? null : { ...endpoint, verdict: "accepted" };
  if (isProbe(rules, delivery)) return { ...endpoint, verdict: "probe_failed" };
  return settled.state === "dropped" && !isOurs ? { ...endpoint, verdict: "dropped" } : null;
}

/**
 * Computes the delivery's state after an exchange, and the outcome of the attempt. After a failed probe the delivery is
 * held again.
 */
export function concludeAttempt(
  rules: Rules,
  delivery: DeliveryToMake,
  exchange: Exchange,
  endedAt: Date,
): { row: DeliveryRow; outcome: AttemptOutcome } {
  const { row: sending } = delivery;
  const attemptsFinished = sending.attemptsFinished + 1;
  const move = (
    event: "accepted" | "failed" | "exhausted" | "withheld",
    delayMs: number | null,
  ): DeliveryRow => ({
    ...sending,
    attemptsFinished,
    nextAttemptAt: delayMs === null ? null : new Date(endedAt.getTime() + delayMs),
    state: deliveryMachine.next(sending.state, event),
  });
  if (exchange.error === null) return { row: move("accepted", null), outcome: { state: "delivered" } };
  if (attemptsFinished >= ATTEMPTS_MAX)
    return { row: move("exhausted", null), outcome: { state: "dropped" } };
  if (isProbe(rules, delivery))
    return { row: move("withheld", probeDelayMs(attemptsFinished)), outcome: { state: "held" } };
  const delayMs = retryDelayMs(rules.schedule, attemptsFinished, Math.random(), exchange.retryAfterMs);
  return { row: move("failed", delayMs), outcome: { state: "retry", number: attemptsFinished + 1, delayMs } };
}
