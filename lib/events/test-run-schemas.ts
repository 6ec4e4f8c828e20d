import { z } from "zod";
import { TEST_RUN_STARTERS, TEST_RUN_STATUSES, TEST_TARGETS } from "#db/schema/unions.ts";
import { count, pageUrl, TEST_RUN, timestamp } from "./wire-values.ts";

export const testRunId = z.string().meta({ description: "Id of the test run.", examples: [TEST_RUN] });

export const testCountsSchema = z
  .object({ total: count, passed: count, failed: count, flaky: count, skipped: count })
  .meta({
    id: "TestCounts",
    description:
      "Number of tests by result. A test that runs against control and variant counts twice. `flaky`: failed first, and passed in a retry.",
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
        "`failed`: a test failed, or the run ended before all tests had run. `interrupted`: the service could not finish the run in two attempts.",
      examples: ["failed"],
    }),
    startedBy: z.enum(TEST_RUN_STARTERS),
    files: z.array(z.string()).meta({
      description: "Test files and folders of the workspace. An empty list means every test file.",
      examples: [["tests/checkout.spec.ts"]],
    }),
    against: z
      .array(z.enum(TEST_TARGETS))
      .meta({ description: "`control`: the page without the variant. `variant`: the page with it." }),
    variant: z
      .string()
      .nullable()
      .meta({ description: "Key of the variant. Null if only the control is tested." }),
    revision: z
      .int()
      .min(1)
      .nullable()
      .meta({
        description: "Revision of the variant that was tested. Null before the run starts.",
        examples: [3],
      }),
    grep: z
      .string()
      .nullable()
      .meta({ description: "Regular expression that the titles of the tests match." }),
    retries: count,
    baseUrl: pageUrl("URL that relative URLs in the tests are resolved against.").nullable(),
    viewport: z.enum(["desktop", "tablet", "phone"]),
    timeoutSeconds: z
      .int()
      .min(1)
      .meta({ examples: [300] }),
    counts: testCountsSchema,
    problem: z.string().nullable().meta({
      description:
        "Explains why tests have no result, or which hosts the tests could not reach. Null if there is nothing to explain.",
    }),
    createdAt: timestamp,
    startedAt: timestamp.nullable(),
    endedAt: timestamp.nullable(),
  })
  .meta({ id: "TestRun", description: "A run of Playwright tests of the session's workspace." });
