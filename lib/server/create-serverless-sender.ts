import { createJobSender, type JobSender } from "#lib/session/jobs/job-sender.ts";
import type { Job } from "#lib/session/store/jobs.ts";
import { waitUntil } from "./wait-until.ts";

/**
 * How long a serverless function stays alive to send a job. If sending takes longer, a later sweep of the outbox sends
 * the job.
 */
const SEND_TIMEOUT_MS = 10_000;

/**
 * Creates a job sender for serverless functions, which may be frozen after their response. The sender asks the platform
 * to wait until the jobs were sent.
 */
export function createServerlessSender(deps: Parameters<typeof createJobSender>[0]): JobSender {
  const waiting = new Map<string, () => void>();
  const sender = createJobSender({
    ...deps,
    async send(job) {
      try {
        await deps.send(job);
      } finally {
        waiting.get(job.id)?.();
      }
    },
  });
  const waitUntilSent = (job: Job) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(finish, SEND_TIMEOUT_MS);
      function finish() {
        clearTimeout(timer);
        waiting.delete(job.id);
        resolve();
      }
      waiting.set(job.id, finish);
    });
  function sendSoon(jobs: Job[]): void {
    waitUntil(Promise.all(jobs.map(waitUntilSent)));
    sender.sendSoon(jobs);
  }
  return {
    ...sender,
    sendSoon,
    begin: (job, planned) => (planned ? sender.begin(job, planned) : sendSoon([job])),
  };
}
