import { z } from "zod";
import { TEST_RUN_STARTERS, TEST_RUN_STATUSES, TEST_TARGETS } from "#db/schema/unions.ts";
import { count, pageUrl, TEST_RUN, timestamp } from "./wire-values.ts";

export const testRunId = z.string().meta({ description: "Id of the test run.", examples: [TEST_RUN] });

export const testCountsSchema = z
  .object({ total: count, passed: count, failed: count, flaky: count, skipped: count })
  .meta({
    id: "TestCounts",
    description:
      "Number of tests by result. A test that runs against both control and variant counts twice. `flaky`: the test failed first and passed in a retry.",
  });

/** A run of Playwright tests. Source: `wire.md`, Test runs. */
export const testRunSchema = z
  .object({
    id: testRunId,
    number: z
      .int()
      .min(1)
      .meta({ description: "Number of this test run among the session's test runs.", examples: [1] }),
    status: z.enum(TEST_RUN_STATUSES).meta({
      description:
        "`passed`: every test has a result and none failed. `failed`: a test failed, or the run ended before every test had a result. `interrupted`: the service could not finish the run in two attempts.",
      examples: ["failed"],
    }),
    startedBy: z.enum(TEST_RUN_STARTERS),
    files: z.array(z.string()).meta({
      description: "Test files and folders of the workspace that run. An empty list means every test file.",
      examples: [["tests/checkout.spec.ts"]],
    }),
    against: z.array(z.enum(TEST_TARGETS)).meta({
      description:
        "What the tests run against. `control`: the page without the variant. `variant`: the page with the variant.",
    }),
    variant: z
      .string()
      .nullable()
      .meta({ description: "Key of the variant. Null if only the control is tested." }),
    revision: z
      .int()
      .min(1)
      .nullable()
      .meta({
        description:
          "Revision of the variant that was tested. Null until the run has ended, and if only the control is tested.",
        examples: [3],
      }),
    grep: z.string().nullable().meta({
      description: "Regular expression: only tests whose titles match it run. Null if all tests run.",
    }),
    retries: count,
    baseUrl: pageUrl(
      "URL that relative URLs in the tests are resolved against. Null if there is none.",
    ).nullable(),
    viewport: z.enum(["desktop", "tablet", "phone"]),
    timeoutSeconds: z
      .int()
      .min(1)
      .meta({ description: "Time limit for all tests of the run together, in seconds.", examples: [300] }),
    counts: testCountsSchema,
    problem: z.string().nullable().meta({
      description:
        "Explains why tests have no result, or which hosts the tests could not reach. Null if there is nothing to explain.",
    }),
    createdAt: timestamp,
    startedAt: timestamp
      .nullable()
      .describe("When the run started. ISO 8601, UTC. Null if it has not started."),
    endedAt: timestamp.nullable().describe("When the run ended. ISO 8601, UTC. Null until then."),
  })
  .meta({ id: "TestRun", description: "A run of Playwright tests of the session's workspace." });
