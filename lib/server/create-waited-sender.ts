import { createJobSender, type JobSender } from "#lib/session/jobs/job-sender.ts";
import type { Job } from "#lib/session/jobs/jobs.ts";

type RequestContext = { waitUntil?: (work: Promise<unknown>) => void };
type Globals = { [REQUEST_CONTEXT]?: { get?: () => RequestContext | undefined } };

/** Where a platform keeps what belongs to the request at hand. */
const REQUEST_CONTEXT = Symbol.for("@vercel/request-context");

/** How long a function is kept for a job to leave; the sweep has what takes longer. */
const PATIENCE_MS = 10_000;

/**
 * A job sender for functions that may be frozen once they have answered: the platform is asked to wait until the jobs
 * have left. Source: the declarations of `@vercel/functions`, `waitUntil`.
 */
export function createWaitedSender(deps: Parameters<typeof createJobSender>[0]): JobSender {
  const departures = new Map<string, () => void>();
  const sender = createJobSender({
    ...deps,
    async send(job) {
      await deps.send(job);
      departures.get(job.id)?.();
    },
  });
  const departure = (job: Job) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(leave, PATIENCE_MS);
      function leave() {
        clearTimeout(timer);
        departures.delete(job.id);
        resolve();
      }
      departures.set(job.id, leave);
    });
  function sendSoon(jobs: Job[]): void {
    const context = (globalThis as Globals)[REQUEST_CONTEXT]?.get?.();
    context?.waitUntil?.(Promise.all(jobs.map(departure)));
    sender.sendSoon(jobs);
  }
  return {
    ...sender,
    sendSoon,
    begin: (job, planned) => (planned ? sender.begin(job, planned) : sendSoon([job])),
  };
}
