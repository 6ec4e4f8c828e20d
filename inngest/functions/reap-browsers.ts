import type { Inngest } from "inngest";

/** Ends browsers that nobody has used for the idle time, every minute. */
export const createReapBrowsers = (client: Inngest, reap: () => Promise<number>) =>
  client.createFunction(
    { id: "reap-browsers", triggers: { cron: "* * * * *" }, retries: 0 },
    async ({ step }) => ({
      reaped: await step.run("reap", reap),
    }),
  );
