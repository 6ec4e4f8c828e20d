import type { Inngest } from "inngest";

/** Each uses a worker thread and up to 32 MiB of text. */
const AT_ONCE_MAX = 2;

/**
 * Makes the receipts of a run's deliverable. The service stores them in its own table, so a repeated step sees whether
 * they are made.
 */
export const createMakeReceipts = (client: Inngest, make: (runId: string) => Promise<{ made: boolean }>) =>
  client.createFunction(
    {
      id: "make-receipts",
      triggers: { event: "deliverable/receipts.requested" },
      retries: 3,
      concurrency: { limit: AT_ONCE_MAX },
    },
    async ({ event, step }) => {
      // The cast is safe because only `requestReceipts` creates these jobs.
      const { runId } = event.data as { runId: string };
      return step.run("make", () => make(runId));
    },
  );
