import { createHmac } from "node:crypto";
import { type LineOf, monotonicMs } from "../oracle/log-line.ts";
import { type Evidence, type Invariant, sumWaits } from "../world/evidence.ts";

/** I4: the row of a callback is made with its event, for every event that was subscribed to. */
export const oneRowPerEvent: Invariant = {
  id: "I4",
  promise: "exactly one callback row per subscribed (run, event), made in that event's transaction",
  findViolations({ rows }) {
    const wrong: string[] = [];
    const subscribed = new Map(rows.sessions.map((session) => [session.id, session.callbackEvents ?? []]));
    const wanted = rows.events.filter(({ sessionId, kind }) =>
      subscribed.get(sessionId)?.some((event) => event === kind),
    );
    for (const event of wanted) {
      const made = rows.deliveries.filter((row) => row.runId === event.runId && row.event === event.kind);
      const [row] = made;
      if (made.length !== 1 || !row)
        wrong.push(`${event.kind} of ${event.runId} has ${made.length} callback rows`);
      else if (row.createdAt.getTime() !== event.createdAt.getTime())
        wrong.push(`${row.id} was not made in the transaction of its event`);
      else if (JSON.stringify(JSON.parse(row.body).data) !== event.body)
        wrong.push(`${row.id} does not carry its event`);
    }
    if (rows.deliveries.length !== wanted.length)
      wrong.push(`there are ${rows.deliveries.length} callback rows for ${wanted.length} events`);
    return wrong;
  },
};

const JITTER = 0.2;
/** What the engine's waking, two commits and a connection may add, on a machine that has time for them. */
const WAKING_MS = 500;
/** How far two clocks of one machine, and the notes taken on them, may be apart. */
const CLOCK_MS = 20;

type Exchange = LineOf<"callback"> & { end: LineOf<"callback-end"> | undefined };

/** I5: a callback arrives, or is dropped after five finished attempts; always the same bytes, at the promised times. */
export const deliveredOrDropped: Invariant = {
  id: "I5",
  promise:
    "at least one delivery per row unless five finished attempts failed; same bytes and id; spacing in band",
  findViolations: (evidence) => evidence.rows.deliveries.flatMap((row) => checkDelivery(evidence, row)),
};

function checkDelivery(evidence: Evidence, row: Evidence["rows"]["deliveries"][number]): string[] {
  const wrong: string[] = [];
  const exchanges = evidence.oracle
    .filter((line): line is LineOf<"callback"> => line.type === "callback" && line.delivery === row.id)
    .map((line) => ({ ...line, end: findEnd(evidence, line.exchange) }));
  const attempts = evidence.rows.deliveryAttempts
    .filter((attempt) => attempt.deliveryId === row.id && attempt.cycle === row.cycle)
    .sort((a, b) => a.number - b.number);
  const secret = evidence.callbackSecrets.get(row.sessionId);

  if (row.state !== "delivered" && row.state !== "dropped") wrong.push(`${row.id} is still ${row.state}`);
  if (
    row.state === "delivered" &&
    !exchanges.some(({ end }) => (end?.status ?? 0) >= 200 && (end?.status ?? 0) < 300)
  )
    if (!exchanges.some(({ end }) => end !== undefined && end.status === null))
      wrong.push(`${row.id} is called delivered, and the receiver has accepted none`);
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
    if (exchange.body !== row.body) wrong.push(`${row.id} was sent with other bytes than its row has`);
    const expected =
      secret === undefined
        ? null
        : `sha256=${createHmac("sha256", secret).update(exchange.body).digest("hex")}`;
    if (exchange.signature !== expected) wrong.push(`${row.id} was sent with a wrong signature`);
    if (exchange.event !== row.event) wrong.push(`${row.id} was sent as ${exchange.event}`);
  }
  return [...wrong, ...checkSpacing(evidence, row.id, exchanges, attempts)];
}

const findEnd = ({ oracle }: Evidence, exchange: number) =>
  oracle.find(
    (line): line is LineOf<"callback-end"> => line.type === "callback-end" && line.exchange === exchange,
  );

/**
 * The gaps between recorded attempts, on the receiver's clock. They are never shorter than promised. A gap in which this
 * process was disturbed, or started, may be longer; so may one over which a step was made to fail, and any by as much as
 * the machine kept the service waiting.
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
