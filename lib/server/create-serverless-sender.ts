import { createJobSender, type JobSender } from "#lib/session/jobs/job-sender.ts";
import type { Job } from "#lib/session/store/jobs.ts";
import { createDeadline } from "#lib/time/deadline.ts";
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
  async function waitUntilSent(job: Job): Promise<void> {
    const { promise: sent, resolve } = Promise.withResolvers<void>();
    waiting.set(job.id, resolve);
    await createDeadline({ ms: SEND_TIMEOUT_MS }).settles(sent);
    waiting.delete(job.id);
  }
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
