import { monotonicMs } from "../recorder/log-line.ts";
import { type Evidence, type Invariant, sumWaits } from "../world/evidence.ts";

/**
 * I3: the turns of a session never overlap. They are played in the order in which their messages were accepted, except
 * that an interrupt may overtake other messages.
 */
export const oneTurnAtATime: Invariant = {
  id: "I3",
  promise: "one turn at a time in a session, in order of arrival",
  findViolations({ rows }) {
    const requests = new Map(rows.requests.map((request) => [request.id, request]));
    const wrong: string[] = [];
    for (const own of Map.groupBy(rows.runs, (run) => run.sessionId).values()) {
      const started = own
        .filter((run) => run.startedAt !== null)
        .sort((a, b) => (a.startedAt?.getTime() ?? 0) - (b.startedAt?.getTime() ?? 0));
      for (const [index, run] of started.entries()) {
        const before = started[index - 1];
        if (!before) continue;
        if ((before.endedAt?.getTime() ?? 0) > (run.startedAt?.getTime() ?? 0))
          wrong.push(`${run.id} started before ${before.id} had ended`);
        const [first, second] = [requests.get(before.requestId), requests.get(run.requestId)];
        if (first?.mode !== "interrupt" && (first?.position ?? 0) > (second?.position ?? 0))
          wrong.push(`${before.id} overtook ${run.id}`);
      }
    }
    return wrong;
  },
};

const STOP_MAX_MS = 3_000;

/** An interrupted turn ends within 3 s in every phase. Source: `wire.md`, Follow-ups; `faults.md`, Invariants. */
export const interruptsStop: Invariant = {
  id: "stop",
  promise: "an interrupt ends the running turn within 3 s, and runs itself",
  findViolations: (evidence) =>
    evidence.acknowledged
      .filter(({ mode }) => mode === "interrupt")
      .flatMap((interrupt) => checkInterrupt(evidence, interrupt)),
};

function checkInterrupt(evidence: Evidence, interrupt: Evidence["acknowledged"][number]): string[] {
  const { rows, disturbedAtMs } = evidence;
  const wallMs = Date.now() - monotonicMs();
  return rows.runs.flatMap((run) => {
    if (run.sessionId !== interrupt.sessionId || run.requestId === interrupt.requestId) return [];
    const [from, to] = [run.startedAt?.getTime(), run.endedAt?.getTime()];
    if (from === undefined || to === undefined || from > interrupt.atMs || to < interrupt.atMs) return [];
    const [fromMs, toMs] = [interrupt.atMs - wallMs, to - wallMs];
    // There is no time limit if the campaign disturbed the service during the turn, because a restart may end the turn.
    if (disturbedAtMs.some((at) => at >= from - wallMs && at <= toMs)) return [];
    const lateMs = toMs - fromMs - STOP_MAX_MS - sumWaits(evidence, fromMs, toMs);
    return lateMs > 0
      ? [`${run.id} continued for ${Math.round(toMs - fromMs)} ms after ${interrupt.requestId} was accepted`]
      : [];
  });
}
