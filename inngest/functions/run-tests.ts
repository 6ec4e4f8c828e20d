import type { Inngest } from "inngest";
import type { PlayedTests } from "#lib/test-runs/play-test-run.ts";
import { momentAfter } from "./moment-after.ts";

const LOOK_AGAIN_MS = 10_000;
/** With a wait after each look, this stays below the 1,000 steps that an engine allows a function run. */
const LOOKS_MAX = 300;

/**
 * Plays a test run. Its results are in our own rows, so that a step that is called again finds a run that has ended. Where
 * another process has it, this one looks again until it has ended, in case that process goes away.
 */
export const createRunTests = (client: Inngest, play: (testRunId: string) => Promise<PlayedTests>) =>
  client.createFunction(
    { id: "run-tests", triggers: { event: "tests/run.requested" }, retries: 10 },
    async ({ event, step }) => {
      // Only `requestTests` creates these jobs.
      const { testRunId } = event.data as { testRunId: string };
      for (let number = 1; number <= LOOKS_MAX; number++) {
        const played = await step.run(`play-${number}`, () => play(testRunId));
        if (played.status === "ended") return played;
        await step.sleepUntil(`wait-${number}`, momentAfter(LOOK_AGAIN_MS));
      }
      return { status: "later" as const };
    },
  );
