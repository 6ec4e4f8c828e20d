import { createHmac } from "node:crypto";
import { ITEM_EVENTS } from "#db/schema/unions.ts";
import { type LineOf, monotonicMs } from "../recorder/log-line.ts";
import { type Evidence, type Invariant, sumWaits } from "../world/evidence.ts";

/**
 * I4: every subscribed event has exactly one callback row, which was stored in the transaction of the event. The end of
 * an attempt that is retried has none.
 */
export const oneRowPerEvent: Invariant = {
  id: "I4",
  promise: "exactly one callback row per subscribed (run, event, item), stored in that event's transaction",
  findViolations({ rows }) {
    const wrong: string[] = [];
    const subscribed = new Map(rows.sessions.map((session) => [session.id, session.callbackEvents ?? []]));
    // What a sub-agent waits for is reported to the callback of the root session.
    for (const { sessionId, rootSessionId } of rows.agents)
      subscribed.set(
        sessionId,
        (subscribed.get(rootSessionId) ?? []).filter((event) => ITEM_EVENTS.some((each) => each === event)),
      );
    const retried = new Set(rows.runs.filter(({ willRetry }) => willRetry).map(({ id }) => id));
    const subscribedEvents = rows.events.filter(
      ({ sessionId, kind, runId }) =>
        subscribed.get(sessionId)?.some((event) => event === kind) &&
        !(kind === "run.completed" && runId !== null && retried.has(runId)),
    );
    for (const event of subscribedEvents) {
      const item = (JSON.parse(event.body) as { item?: { id: string } }).item?.id ?? null;
      const stored = rows.deliveries.filter(
        (row) => row.runId === event.runId && row.event === event.kind && row.itemId === item,
      );
      const [row] = stored;
      if (stored.length !== 1 || !row)
        wrong.push(`${event.kind} of ${event.runId} has ${stored.length} callback rows`);
      else if (row.createdAt.getTime() !== event.createdAt.getTime())
        wrong.push(`${row.id} was not stored in the transaction of its event`);
      else if (JSON.stringify(JSON.parse(row.body).data) !== event.body)
        wrong.push(`${row.id} does not carry its event`);
    }
    if (rows.deliveries.length !== subscribedEvents.length)
      wrong.push(`there are ${rows.deliveries.length} callback rows for ${subscribedEvents.length} events`);
    return wrong;
  },
};

const JITTER = 0.2;
/** Longest time that the engine's wake-up, two commits and the connection take together on an idle machine. */
const WAKING_MS = 500;
/** Largest difference between two clocks of this machine, including the time that it takes to record an event. */
const CLOCK_MS = 20;

type Exchange = LineOf<"callback"> & { end: LineOf<"callback-end"> | undefined };

/**
 * I5: a callback ends as delivered, or as dropped after five finished attempts. All attempts send the same bytes, and
 * each attempt is made at its planned time.
 */
export const deliveredOrDropped: Invariant = {
  id: "I5",
  promise:
    "at least one delivery per row unless five finished attempts failed; same bytes and id; spacing in band",
  findViolations: (evidence) => evidence.rows.deliveries.flatMap((row) => checkDelivery(evidence, row)),
};

function checkDelivery(evidence: Evidence, row: Evidence["rows"]["deliveries"][number]): string[] {
  const wrong: string[] = [];
  const exchanges = evidence.traffic
    .filter((line): line is LineOf<"callback"> => line.type === "callback" && line.delivery === row.id)
    .map((line) => ({ ...line, end: findEnd(evidence, line.exchange) }));
  const attempts = evidence.rows.deliveryAttempts
    .filter((attempt) => attempt.deliveryId === row.id && attempt.cycle === row.cycle)
    .sort((a, b) => a.number - b.number);
  const secret = evidence.callbackSecrets.get(rootOf(evidence, row.sessionId));

  if (row.state !== "delivered" && row.state !== "dropped") wrong.push(`${row.id} is still ${row.state}`);
  if (
    row.state === "delivered" &&
    !exchanges.some(({ end }) => (end?.status ?? 0) >= 200 && (end?.status ?? 0) < 300)
  )
    if (!exchanges.some(({ end }) => end !== undefined && end.status === null))
      wrong.push(`${row.id} is delivered, and the receiver accepted no attempt`);
  if (
    row.state === "dropped" &&
    (attempts.length !== 5 || attempts.some((attempt) => attempt.error === null))
  )
    wrong.push(`${row.id} was dropped after ${attempts.length} finished attempts`);
  if (row.attemptsFinished !== attempts.length)
    wrong.push(`${row.id} counts ${row.attemptsFinished} attempts and has ${attempts.length}`);
  if (attempts.some((attempt, index) => attempt.number !== index + 1))
    wrong.push(`the attempts of ${row.id} are not 1 to ${attempts.length}`);
  if (exchanges.length > attempts.length + evidence.disturbedAtMs.length + (evidence.repeatMs > 0 ? 1 : 0))
    wrong.push(`${row.id} was sent ${exchanges.length} times for ${attempts.length} attempts`);
  for (const exchange of exchanges) {
    if (withoutLink(exchange.body) !== row.body)
      wrong.push(`${row.id} was sent with other bytes than its row has`);
    const expected =
      secret === undefined
        ? null
        : `sha256=${createHmac("sha256", secret).update(exchange.body).digest("hex")}`;
    if (exchange.signature !== expected) wrong.push(`${row.id} was sent with a wrong signature`);
    if (exchange.event !== row.event) wrong.push(`${row.id} was sent as ${exchange.event}`);
  }
  return [...wrong, ...checkSpacing(evidence, row.id, exchanges, attempts)];
}

/** The link to an item is added to the body when it is sent. */
const withoutLink = (body: string): string => body.replace(/("item":\{)"answerUrl":"[^"]*",/, "$1");

const rootOf = ({ rows }: Evidence, sessionId: string): string =>
  rows.agents.find((agent) => agent.sessionId === sessionId)?.rootSessionId ?? sessionId;

const findEnd = ({ traffic }: Evidence, exchange: number) =>
  traffic.find(
    (line): line is LineOf<"callback-end"> => line.type === "callback-end" && line.exchange === exchange,
  );

/**
 * Checks the time between recorded attempts, on the receiver's clock. Apart from jitter, the time must not be shorter
 * than planned. It may be longer by the time that the service waited for a processor, and by the time that the engine
 * needs to wake up or to repeat a failed step. There is no upper limit if the campaign disturbed or started the service
 * between the attempts.
 */
function checkSpacing(
  evidence: Evidence,
  id: string,
  exchanges: Exchange[],
  attempts: Evidence["rows"]["deliveryAttempts"],
): string[] {
  const { schedule, disturbedAtMs, starts, repeatMs } = evidence;
  const wallMs = Date.now() - monotonicMs();
  const recorded = attempts.map(({ at, latencyMs }) =>
    exchanges.findLast(({ firstByteAtMs }) => {
      const sinceMs = firstByteAtMs + wallMs - at.getTime();
      return sinceMs > -CLOCK_MS && sinceMs < latencyMs + CLOCK_MS;
    }),
  );
  return recorded.flatMap((exchange, index) => {
    const before = recorded[index - 1];
    if (!before?.end || !exchange) return [];
    const [from, to] = [before.end.atMs, exchange.firstByteAtMs];
    const plainMs = schedule.baseMs * schedule.factor ** (index - 1);
    const gap = `attempt ${index + 1} of ${id} came ${Math.round(to - from)} ms after the last, planned were ${plainMs}`;
    if (to - from < plainMs * (1 - JITTER) - CLOCK_MS) return [`${gap}: too soon`];
    if (disturbedAtMs.some((at) => at >= before.firstByteAtMs && at <= to)) return [];
    if (starts.some(({ fromMs, toMs }) => fromMs <= to && toMs >= before.firstByteAtMs)) return [];
    const allowedMs = plainMs * (1 + JITTER) + WAKING_MS + repeatMs + sumWaits(evidence, from, to);
    return to - from > allowedMs ? [`${gap}: ${Math.round(to - from - allowedMs)} ms too late`] : [];
  });
}
