import type { Database } from "#db/client.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { addAnswerUrl } from "./add-answer-url.ts";
import { type AttemptOutcome, concludeAttempt, mustHold, reportEndpoint } from "./conclude-attempt.ts";
import type { DeliveryDeps } from "./delivery-deps.ts";
import { deliveryMachine } from "./delivery-machine.ts";
import {
  type AttemptRow,
  beginAttempt,
  type DeliveryRow,
  type DeliveryToMake,
  findAttempt,
  holdDelivery,
  storeAttempt,
} from "./delivery-store.ts";
import { type Opened, openDelivery } from "./open-delivery.ts";
import { type Exchange, sendCallback } from "./send-callback.ts";

/** Identifies an attempt: `cycle` rises with every redelivery, and `number` counts from 1 within a cycle. */
export type AttemptKey = {
  deliveryId: string;
  cycle: number;
  number: number;
  /** If true, the attempt does not wait for the delivery of `run.started`, because that delivery seems to be lost. */
  outOfOrder?: boolean;
};

const EXCHANGE_TIMEOUT_MS = 10_000;

/**
 * Makes one attempt at a delivery and records the attempt together with the delivery's new state. If the process
 * crashes before the attempt is recorded, the attempt is repeated with the same bytes and the same id. For a recorded
 * attempt, only returns its outcome. The first attempt of every other event waits until the first attempt of the run's
 * `run.started` has ended.
 * Source: specification, Delivery semantics; `security.md`, What is never lost.
 *
 * @throws if the service's own infrastructure fails, for example the database, or if the service shuts down. The
 * attempt is then not recorded.
 */
export async function attemptDelivery(deps: DeliveryDeps, key: AttemptKey): Promise<AttemptOutcome> {
  const isOrdered = key.cycle === 1 && key.number === 1 && key.outOfOrder !== true;
  // `beginAttempt` also stores the start time. A sweep uses the start time to find attempts whose executor has died.
  const delivery = await beginAttempt(deps.db, { ...key, isOrdered, at: deps.clock?.() ?? null });
  if (!delivery) return { state: "dropped" };
  const { row } = delivery;
  const now = deps.clock ?? continueClock(delivery.readAtMs);
  if (!delivery.hasBegun) {
    const recorded = await readRecorded(deps.db, row, key, now());
    if (recorded) return recorded;
  }
  const at = now();
  if (mustHold(deps, delivery)) {
    const from = delivery.hasBegun ? { ...row, state: deliveryMachine.next(row.state, "began") } : row;
    const held = { ...from, state: deliveryMachine.next(from.state, "withheld"), nextAttemptAt: at };
    // If another executor changed the delivery at the same time, this executor starts over with the new state.
    if (!(await holdDelivery(deps.db, from, held))) return attemptDelivery(deps, key);
    const fields = { deliveryId: row.id, event: row.event, host: delivery.host };
    deps.logger.info(fields, "a callback is held, because callbacks to its endpoint are disabled");
    return { state: "held" };
  }
  if (!delivery.hasBegun) {
    if (delivery.mustWait)
      return { state: "wait", delayMs: orderingDelayMs(now().getTime() - row.createdAt.getTime()) };
    return attemptDelivery(deps, key);
  }
  const sending: DeliveryRow = {
    ...row,
    state: deliveryMachine.next(row.state, "began"),
    nextAttemptAt: at,
  };
  const opened = openDelivery(deps, delivery, at);
  const waitMs = opened.ok ? (deps.pace?.reserve(opened.url.host, row.id) ?? 0) : 0;
  // The row stays `sending`, so that the same attempt can begin again after the wait.
  if (waitMs > 0) return { state: "wait", delayMs: waitMs };
  const exchange = opened.ok ? await send(deps, delivery, opened, now) : opened.exchange;
  await faultPoint("callback-answered");
  const settled = concludeAttempt(deps, { ...delivery, row: sending }, exchange, now());
  const attempt = {
    number: key.number,
    at,
    status: exchange.status,
    latencyMs: exchange.latencyMs,
    error: exchange.error,
    excerpt: exchange.excerpt,
  };
  if (settled.row.state === "dropped") await faultPoint("callback-dropped");
  const report = reportEndpoint(deps, delivery, settled.row, exchange);
  const recorded = await storeAttempt(deps.db, sending, settled.row, attempt, report);
  // Another executor has recorded the attempt first. This call returns the outcome that is recorded.
  if (!recorded) return attemptDelivery(deps, key);
  if (recorded.isEndpointDisabledNow)
    deps.logger.warn(
      { ownerId: delivery.ownerId, host: delivery.host, failingSince: delivery.failingSince },
      "callbacks to an endpoint are disabled, because none was accepted for too long",
    );
  if (settled.outcome.state === "retry") await faultPoint("callback-waiting");
  const fields = { deliveryId: row.id, event: row.event, number: key.number, ...settled.outcome };
  deps.logger.info({ ...fields, status: exchange.status, error: exchange.error }, "a callback was attempted");
  return settled.outcome;
}

/** Creates a monotonic clock that continues from `readAtMs`, a time that was just read from the database. */
function continueClock(readAtMs: number): () => Date {
  const offsetMs = readAtMs - performance.now();
  return () => new Date(offsetMs + performance.now());
}

/**
 * Returns the outcome of an attempt that must not be made, because it is recorded already or because its delivery or
 * cycle has ended. Returns undefined if the attempt still has to be made.
 *
 * @throws Error if an earlier attempt of the cycle is not recorded yet.
 */
async function readRecorded(
  db: Database,
  row: DeliveryRow,
  key: AttemptKey,
  now: Date,
): Promise<AttemptOutcome | undefined> {
  if (row.cycle !== key.cycle) return { state: "dropped" };
  if (row.state === "delivered" || row.state === "dropped" || row.state === "held")
    return { state: row.state };
  if (key.number > row.attemptsFinished + 1)
    throw new Error(`${key.deliveryId}: attempt ${key.number} comes before ${row.attemptsFinished + 1}`);
  if (key.number === row.attemptsFinished + 1) return undefined;
  const isLast = key.number === row.attemptsFinished;
  const delayMs = isLast ? readRemainingMs(row, await findAttempt(db, key), now) : 0;
  return { state: "retry", number: key.number + 1, delayMs };
}

/** Returns the time left until the next attempt: at most the whole wait, even if the clock was set back. */
function readRemainingMs(row: DeliveryRow, last: AttemptRow | undefined, now: Date): number {
  if (!row.nextAttemptAt) return 0;
  const beganMs = last ? last.at.getTime() + last.latencyMs : Number.NEGATIVE_INFINITY;
  return Math.max(0, row.nextAttemptAt.getTime() - Math.max(now.getTime(), beganMs));
}

/** Returns how long to wait before checking again whether `run.started` was attempted: longer for an older event. */
const orderingDelayMs = (ageMs: number): number => Math.min(5_000, Math.max(100, Math.round(ageMs / 2)));

function send(
  deps: DeliveryDeps,
  { row }: DeliveryToMake,
  { url, secret, previousSecret }: Opened,
  now: () => Date,
): Promise<Exchange> {
  const { id, sessionId, event } = row;
  const body = Buffer.from(addAnswerUrl(row, deps.answers), "utf8");
  const callback = { id, sessionId, event, url: url.href, secret, previousSecret, body };
  const timeoutMs = deps.timeoutMs ?? EXCHANGE_TIMEOUT_MS;
  return sendCallback(deps.post, callback, { timeoutMs, now, signal: deps.signal });
}
