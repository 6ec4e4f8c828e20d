import type { Inngest } from "inngest";

/** Every minute, closes the browsers that were idle for too long. */
export const createReapBrowsers = (client: Inngest, reap: () => Promise<number>) =>
  client.createFunction(
    { id: "reap-browsers", triggers: { cron: "* * * * *" }, retries: 0 },
    async ({ step }) => ({
      reaped: await step.run("reap", reap),
    }),
  );

/** Every minute, sends jobs that a crash or an unreachable engine left in the outbox. The engine ignores duplicates. */
export const createSweepOutbox = (client: Inngest, sweep: () => Promise<number>) =>
  client.createFunction(
    { id: "sweep-outbox", triggers: { cron: "* * * * *" }, retries: 0 },
    async ({ step }) => ({
      sent: await step.run("sweep", sweep),
    }),
  );
