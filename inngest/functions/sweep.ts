import type { Inngest } from "inngest";

/**
 * Does the regular work of the service every minute. Only for platforms on which the service has no process of its own,
 * and therefore no timer.
 */
export const createSweep = (client: Inngest, sweep: () => Promise<number>) =>
  client.createFunction({ id: "sweep", triggers: { cron: "* * * * *" }, retries: 0 }, async ({ step }) => ({
    sent: await step.run("sweep", sweep),
  }));
