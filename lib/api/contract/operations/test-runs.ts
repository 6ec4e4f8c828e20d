import { testRunSchema } from "#lib/events/test-run-schemas.ts";
import { DRIVER_AUTH, defineOperation, type Operation, READER_AUTH } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";
import { testRunAnswerSchema, testRunStartedSchema } from "../schemas/test-runs.ts";

/** Operations on the test runs of a session. Source: `wire.md`, Test runs. */
export const testRunOperations = {
  listTestRuns: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/tests",
    summary: "List test runs, newest first",
    auth: READER_AUTH,
    rate: "poll",
    answers: { 200: listOf(testRunSchema) },
  }),
  readTestRun: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/tests/:testRunId",
    summary: "Read a test run with its results",
    auth: READER_AUTH,
    rate: "poll",
    answers: { 200: testRunAnswerSchema },
  }),
  rerunTests: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/tests/:testRunId/rerun",
    summary: "Run the tests of a test run again from the session page",
    auth: DRIVER_AUTH,
    rate: "act",
    errors: ["conflict"],
    answers: { 201: testRunStartedSchema },
  }),
  cancelTests: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/tests/:testRunId/cancel",
    summary: "Cancel a test run from the session page",
    auth: DRIVER_AUTH,
    rate: "act",
    errors: ["conflict"],
    answers: { 200: testRunStartedSchema },
  }),
} as const satisfies Record<string, Operation>;
