import type { Evidence, Invariant } from "../world/evidence.ts";
import { isEngineBusy } from "../world/read-rows.ts";

/**
 * The time within which the service's sweep sends a job that was not sent at once. The sweep runs every minute, skips
 * jobs younger than 2 s, and may take 3 s.
 */
const SWEPT_WITHIN_MS = 65_000;

/**
 * I3 for jobs: every job is sent, the generations of a run's jobs rise by one, and the engine ends every function run.
 */
export const jobsEnd: Invariant = {
  id: "I3",
  promise: "every job is sent and played to its end, its generations rise one by one",
  findViolations({ rows, endedAtMs }) {
    const wrong: string[] = [];
    for (const job of rows.outbox)
      if (job.sentAt === null && endedAtMs - job.createdAt.getTime() > SWEPT_WITHIN_MS)
        wrong.push(`job ${job.id} was never sent`);
    for (const run of rows.runs) {
      const generations = rows.outbox
        .flatMap(({ id }) => (id.startsWith(`${run.id}:`) ? Number(id.slice(run.id.length + 1)) : []))
        .filter(Number.isInteger)
        .sort((a, b) => a - b);
      // The generations may start above 1, because a run that waited behind another run has no job of generation 1.
      const isRising = generations.every(
        (one, index) => index === 0 || one === (generations[index - 1] ?? 0) + 1,
      );
      if (generations.length > 0 && !(isRising && generations.at(-1) === run.generation))
        wrong.push(`${run.id} is at generation ${run.generation} and has jobs of ${generations.join(", ")}`);
    }
    if (isEngineBusy(rows))
      for (const run of rows.engineRuns)
        if (isEngineBusy({ engineRuns: [run] }))
          wrong.push(`the engine still plays ${run.functionId} of ${run.eventId}`);
    return [...wrong, ...findBrokenPlays(rows)];
  },
};

/**
 * Finds gaps in the `play-<n>` steps of the engine's function runs, and failed function runs. A function run may fail
 * only if another executor has taken over the run that it plays.
 */
function findBrokenPlays({ engineRuns, engineSteps }: Evidence["rows"]): string[] {
  return engineRuns.flatMap(({ id, functionId, eventId, state, error }) => {
    if (!/run-turn|deliver-callback/.test(functionId)) return [];
    const isStale = JSON.stringify(error ?? null).includes("claim on this run is over");
    const wrong =
      state === "failed" && !isStale ? [`the engine gave up ${eventId}: ${JSON.stringify(error)}`] : [];
    const plays = engineSteps
      .flatMap((step) => (step.runId === id ? (/^play-(\d+)$/.exec(step.name)?.[1] ?? []) : []))
      .map(Number)
      .sort((a, b) => a - b);
    return plays.every((play, index) => play === index + 1)
      ? wrong
      : [...wrong, `${eventId} was played by the steps ${plays.join(", ")}`];
  });
}
