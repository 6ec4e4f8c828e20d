import type { Inngest } from "inngest";

/** Sends what a crash or an unreachable engine left in the outbox, every minute. Ids make a second send harmless. */
export const createSweepOutbox = (client: Inngest, sweep: () => Promise<number>) =>
  client.createFunction(
    { id: "sweep-outbox", triggers: { cron: "* * * * *" }, retries: 0 },
    async ({ step }) => ({
      sent: await step.run("sweep", sweep),
    }),
  );
