import type { Inngest } from "inngest";
import type { PlayedTests } from "#lib/test-runs/play-test-run.ts";
import { momentAfter } from "./moment-after.ts";

const POLL_MS = 10_000;
/**
 * Maximum number of plays. A play and the wait after it are two steps, and an engine limits a function run to 1,000
 * steps.
 */
const PLAYS_MAX = 300;

/**
 * Plays a test run. The service stores the results in its own tables, so a repeated step sees whether the test run has
 * ended. If another process plays the test run, this function polls until the test run has ended, at most `PLAYS_MAX`
 * times, because that process may die.
 */
export const createRunTests = (client: Inngest, play: (testRunId: string) => Promise<PlayedTests>) =>
  client.createFunction(
    { id: "run-tests", triggers: { event: "tests/run.requested" }, retries: 10 },
    async ({ event, step }) => {
      // The cast is safe because only `requestTests` creates these jobs.
      const { testRunId } = event.data as { testRunId: string };
      for (let number = 1; number <= PLAYS_MAX; number++) {
        const played = await step.run(`play-${number}`, () => play(testRunId));
        if (played.status === "ended") return played;
        await step.sleepUntil(`wait-${number}`, momentAfter(POLL_MS));
      }
      return { status: "later" as const };
    },
  );
