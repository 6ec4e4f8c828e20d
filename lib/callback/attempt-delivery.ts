import type { Database } from "#db/client.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { GuardedFetch } from "#lib/net/fetch/guarded-fetch.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import { CALLBACK_SECRET, CALLBACK_URL } from "#lib/session/secrets/secret-names.ts";
import { deliveryMachine } from "./delivery-machine.ts";
import {
  type AttemptRow,
  beginAttempt,
  type DeliveryRow,
  type DeliveryToMake,
  type EndpointReport,
  findAttempt,
  settleAttempt,
} from "./delivery-store.ts";
import type { EndpointPace } from "./endpoint/endpoint-pace.ts";
import type { HttpRefusal } from "./endpoint/refuse-http.ts";
import { ATTEMPTS_MAX, type RetrySchedule, retryDelayMs } from "./retry-schedule.ts";
import { openCallbackValue, openPrevious } from "./secret/open-secrets.ts";
import { type Exchange, sendCallback } from "./send-callback.ts";

/** Which attempt to make: the cycle rises with every redeliver, the number counts from 1 within it. */
export type AttemptKey = {
  deliveryId: string;
  cycle: number;
  number: number;
  /** Gives up waiting for `run.started`, whose delivery has been lost: arriving late beats never arriving. */
  outOfOrder?: boolean;
};

export type DeliveryDeps = {
  db: Database;
  fetch: GuardedFetch;
  sealer: Sealer;
  schedule: RetrySchedule;
  logger: Pick<Logger, "info" | "warn">;
  /** The rate at which a receiver is called; unlimited without. */
  pace?: EndpointPace;
  /** Refuses URLs by their scheme; none without. */
  refuseHttp?: HttpRefusal;
  /**
   * How long callbacks to an endpoint have to fail until it is disabled, in milliseconds. Default 0: none is disabled, and one
   * that was disabled before is called again.
   */
  disableAfterMs?: number;
  /** A clock that a test sets; by default the database's, carried on by this process's monotonic one. */
  clock?: () => Date;
  /** Deadline over one whole exchange. Default: the specification's 10 seconds. */
  timeoutMs?: number;
  /** Aborted when the service ends: an attempt that this cuts off throws, and does not count. */
  signal?: AbortSignal;
};

/**
 * What follows an attempt. `delivered` and `dropped` end the cycle (`dropped` also stands for one that a newer
 * cycle, or the session's removal, has overtaken); `retry` is to make attempt `number` after `delayMs`; `wait` is to
 * make the same attempt after `delayMs`, because nothing was sent yet.
 */
export type AttemptOutcome =
  | { state: "delivered" }
  | { state: "dropped" }
  | { state: "retry"; number: number; delayMs: number }
  | { state: "wait"; delayMs: number };

const EXCHANGE_TIMEOUT_MS = 10_000;

/**
 * Makes one attempt at a delivery and records it together with the delivery's new state. An attempt counts when it
 * has ended and is recorded; a crash before that repeats it, with the same bytes and the same id. What is recorded
 * already is told, not repeated. The first attempt of `run.completed` waits for that of `run.started`.
 * Source: specification, Delivery semantics; `security.md`, What is never lost.
 *
 * @throws when our own infrastructure fails (database, a service that ends); nothing is recorded then.
 */
export async function attemptDelivery(deps: DeliveryDeps, key: AttemptKey): Promise<AttemptOutcome> {
  const isOrdered = key.cycle === 1 && key.number === 1 && key.outOfOrder !== true;
  // When it began: by it a sweep knows an attempt whose executor has gone.
  const delivery = await beginAttempt(deps.db, { ...key, isOrdered, at: deps.clock?.() ?? null });
  if (!delivery) return { state: "dropped" };
  const { row } = delivery;
  const now = deps.clock ?? carryOn(delivery.readAtMs);
  if (!delivery.hasBegun) {
    const recorded = await readRecorded(deps.db, row, key, now());
    if (recorded) return recorded;
    if (delivery.mustWait)
      return { state: "wait", delayMs: orderingDelayMs(now().getTime() - row.createdAt.getTime()) };
    // Another executor has moved it since.
    return attemptDelivery(deps, key);
  }
  const at = now();
  const sending: DeliveryRow = {
    ...row,
    state: deliveryMachine.next(row.state, "began"),
    nextAttemptAt: at,
  };
  const opened = openDelivery(deps, delivery, at);
  const waitMs = opened.ok ? (deps.pace?.reserve(opened.url.host, row.id) ?? 0) : 0;
  // The row stays `sending`: beginning the same attempt again is what happens after a crash, too.
  if (waitMs > 0) return { state: "wait", delayMs: waitMs };
  const exchange = opened.ok ? await send(deps, delivery, opened, now) : opened.exchange;
  await faultPoint("callback-answered");
  const settled = settle(deps.schedule, sending, exchange, now());
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
  const recorded = await settleAttempt(deps.db, sending, settled.row, attempt, report);
  // Another executor may have recorded it first.
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

/** A clock that stood at this time when it was read, and never jumps. */
function carryOn(readAtMs: number): () => Date {
  const offsetMs = readAtMs - performance.now();
  return () => new Date(offsetMs + performance.now());
}

/** The outcome of this attempt if it is recorded; undefined when the attempt is still to be made. */
async function readRecorded(
  db: Database,
  row: DeliveryRow,
  key: AttemptKey,
  now: Date,
): Promise<AttemptOutcome | undefined> {
  if (row.cycle !== key.cycle) return { state: "dropped" };
  if (row.state === "delivered" || row.state === "dropped") return { state: row.state };
  if (key.number > row.attemptsFinished + 1)
    throw new Error(`${key.deliveryId}: attempt ${key.number} comes before ${row.attemptsFinished + 1}`);
  if (key.number === row.attemptsFinished + 1) return undefined;
  const isLast = key.number === row.attemptsFinished;
  const delayMs = isLast ? readRemainingMs(row, await findAttempt(db, key), now) : 0;
  return { state: "retry", number: key.number + 1, delayMs };
}

/** The rest of the wait before the next attempt; the whole wait where the clock was set back behind its beginning. */
function readRemainingMs(row: DeliveryRow, last: AttemptRow | undefined, now: Date): number {
  if (!row.nextAttemptAt) return 0;
  const beganMs = last ? last.at.getTime() + last.latencyMs : Number.NEGATIVE_INFINITY;
  return Math.max(0, row.nextAttemptAt.getTime() - Math.max(now.getTime(), beganMs));
}

/** Looks again soon after the event, and less often the longer `run.started` takes. */
const orderingDelayMs = (ageMs: number): number => Math.min(5_000, Math.max(100, Math.round(ageMs / 2)));

/** A delivery with its URL and secrets in full. */
type Opened = { ok: true; url: URL; secret: string | null; previousSecret: string | null };

/** Opens what is sealed of a delivery, and decides whether it may be sent; a refusal is an attempt that failed. */
function openDelivery(
  { sealer, refuseHttp, disableAfterMs = 0 }: DeliveryDeps,
  { row, url: storedUrl, sealed, host, failingSince, disabledAt }: DeliveryToMake,
  now: Date,
): Opened | { ok: false; exchange: Exchange } {
  if (storedUrl === null) throw new Error(`${row.id}: its session has no callback URL`);
  // A redelivery is sent anyway, because somebody asked for it. If it or a probe is accepted, the endpoint is enabled.
  const isProbe = disabledAt !== null && now.getTime() - disabledAt.getTime() >= PROBE_AFTER_MS;
  if (disableAfterMs > 0 && disabledAt !== null && !isProbe && row.cycle === 1)
    return refuse(
      `not sent: callbacks to ${host} are disabled, because none was accepted since ${failingSince?.toISOString()}; ` +
        "enable them, or send this one again",
      { isFinal: true },
    );
  let what = "secret";
  try {
    const open = (name: string) => openCallbackValue(sealer, row.sessionId, name, sealed ?? {});
    const secret = open(CALLBACK_SECRET) ?? null;
    what = "URL";
    const url = new URL(open(CALLBACK_URL) ?? storedUrl);
    const refusal = refuseHttp?.(url);
    if (refusal !== undefined) return refuse(`the callback URL ${refusal}`, { isOurs: true });
    const previous = openPrevious(sealer, row.sessionId, sealed ?? {}, now);
    return { ok: true, url, secret, previousSecret: previous?.secret ?? null };
  } catch {
    // Sent without its signature it would be taken for a forgery, so it is not sent at all.
    return refuse(`the callback ${what} cannot be read with this ENCRYPTION_KEY`, { isOurs: true });
  }
}

const refuse = (
  error: string,
  reason: Pick<Exchange, "isFinal" | "isOurs">,
): { ok: false; exchange: Exchange } => ({
  ok: false,
  exchange: { status: null, error, latencyMs: 0, excerpt: null, ...reason },
});

/** How long after the last proof that a disabled endpoint fails a delivery is sent to it again, as a probe. */
const PROBE_AFTER_MS = 3_600_000;

function send(
  deps: DeliveryDeps,
  { row }: DeliveryToMake,
  { url, secret, previousSecret }: Opened,
  now: () => Date,
): Promise<Exchange> {
  const { id, sessionId, event } = row;
  const body = Buffer.from(row.body, "utf8");
  const callback = { id, sessionId, event, url: url.href, secret, previousSecret, body };
  const timeoutMs = deps.timeoutMs ?? EXCHANGE_TIMEOUT_MS;
  return sendCallback(deps.fetch, callback, { timeoutMs, now, signal: deps.signal });
}

/**
 * What an attempt changes about its endpoint; null for nothing. An endpoint fails with the last attempt of a delivery,
 * unless that was not sent because of us. One that is not known to fail has nothing to recover from: a row that is
 * written at the same time is removed by the next accepted delivery.
 */
function reportEndpoint(
  { disableAfterMs = 0 }: DeliveryDeps,
  { ownerId, host, failingSince }: DeliveryToMake,
  { state }: DeliveryRow,
  { isFinal = false, isOurs = false }: Exchange,
): EndpointReport | null {
  const endpoint = { ownerId, host: host ?? "", disableAfterMs };
  if (state === "delivered") return failingSince === null ? null : { ...endpoint, verdict: "accepted" };
  return state === "dropped" && !isFinal && !isOurs ? { ...endpoint, verdict: "dropped" } : null;
}

type Settled = { row: DeliveryRow; outcome: AttemptOutcome };

/** The state that an ended exchange leads to, and what follows. */
function settle(schedule: RetrySchedule, sending: DeliveryRow, exchange: Exchange, endedAt: Date): Settled {
  const attemptsFinished = sending.attemptsFinished + 1;
  const move = (event: "accepted" | "failed" | "exhausted", nextAttemptAt: Date | null): DeliveryRow => ({
    ...sending,
    attemptsFinished,
    nextAttemptAt,
    state: deliveryMachine.next(sending.state, event),
  });
  if (exchange.error === null) return { row: move("accepted", null), outcome: { state: "delivered" } };
  if (attemptsFinished >= ATTEMPTS_MAX || exchange.isFinal)
    return { row: move("exhausted", null), outcome: { state: "dropped" } };
  const delayMs = retryDelayMs(schedule, attemptsFinished, Math.random(), exchange.retryAfterMs);
  return {
    row: move("failed", new Date(endedAt.getTime() + delayMs)),
    outcome: { state: "retry", number: attemptsFinished + 1, delayMs },
  };
}
