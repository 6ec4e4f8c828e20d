import { sql } from "drizzle-orm";
import { check, index, integer, jsonb, pgTable, primaryKey, text, unique } from "drizzle-orm/pg-core";
import { createdAt, instant, oneOf } from "./columns.ts";
import { sessions } from "./sessions.ts";
import {
  TEST_RUN_STARTERS,
  TEST_RUN_STATUSES,
  TEST_STATUSES,
  TEST_TARGETS,
  type TestRunStarter,
  type TestRunStatus,
  type TestStatus,
  type TestTarget,
} from "./unions.ts";

/** The parameters of a test run. */
export type TestRunInput = {
  /** Files and folders of the workspace. An empty list selects all test files. */
  files: string[];
  against: TestTarget[];
  /** Key of the variant to test; null if only the unchanged page (`control`) is tested. */
  variant: string | null;
  /** Regular expression that a test's full title must match; null for all tests. */
  grep: string | null;
  retries: number;
  baseUrl: string | null;
  viewport: "desktop" | "tablet" | "phone";
  timeoutSeconds: number;
};

/** The total number of tests, and the number of tests with each status. */
export type TestCounts = Record<"total" | TestStatus, number>;

/** A run of Playwright tests of a session's workspace. Its results are written when it ends. */
export const testRuns = pgTable(
  "test_runs",
  {
    id: text("id").primaryKey(),
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    /** Number among the session's test runs, from 1. */
    number: integer("number").notNull(),
    status: text("status").$type<TestRunStatus>().notNull().default("queued"),
    startedBy: text("started_by").$type<TestRunStarter>().notNull(),
    /**
     * `requestId`, `runId` and `callId` identify the request and the tool call that started the test run. If the call
     * is executed again after a crash, it finds its test run by them. Null if a person started the test run.
     */
    requestId: text("request_id"),
    runId: text("run_id"),
    callId: text("call_id"),
    input: jsonb("input").$type<TestRunInput>().notNull(),
    /** Tested revision of the variant; null before the test run starts, and if only the unchanged page is tested. */
    revision: integer("revision"),
    counts: jsonb("counts").$type<TestCounts>().notNull(),
    /** Sentences about problems of the test run, such as tests without a result; null if there are no problems. */
    problem: text("problem"),
    /** Number of times that the test run was started. If its process dies, the test run is started a second time. */
    attempt: integer("attempt").notNull().default(0),
    /** The process that executes the test run; null while no process executes it. */
    owner: text("owner"),
    /** Number of the newest job that requests the execution of the test run, from 0. */
    jobNumber: integer("job_number").notNull().default(0),
    /** When the newest job was written. */
    requestedAt: instant("requested_at").notNull().defaultNow(),
    cancelRequestedAt: instant("cancel_requested_at"),
    startedAt: instant("started_at"),
    endedAt: instant("ended_at"),
    createdAt: createdAt(),
  },
  (table) => [
    unique("test_runs_number").on(table.sessionId, table.number),
    unique("test_runs_call").on(table.runId, table.callId),
    index("test_runs_open").on(table.status).where(sql`status in ('queued', 'running')`),
    oneOf("test_runs_status", table.status, TEST_RUN_STATUSES),
    oneOf("test_runs_started_by", table.startedBy, TEST_RUN_STARTERS),
    check("test_runs_ended", sql`(${table.endedAt} is null) = (${table.status} in ('queued', 'running'))`),
  ],
);

/** A step of a test: its title, how long it took in milliseconds, its error, and the steps in it. */
export type TestStep = {
  title: string;
  durationMs: number;
  error?: string;
  steps?: TestStep[];
};

/** A file that a test attached. Either `evidenceId` names the saved file, or `problem` says why it was not saved. */
export type TestAttachment = {
  name: string;
  mediaType: string;
  sizeBytes: number;
  evidenceId: string | null;
  problem: string | null;
};

/** The result of one test against one target. */
export const testResults = pgTable(
  "test_results",
  {
    testRunId: text("test_run_id")
      .notNull()
      .references(() => testRuns.id, { onDelete: "cascade" }),
    /** Order within the test run, from 1. */
    position: integer("position").notNull(),
    target: text("target").$type<TestTarget>().notNull(),
    file: text("file").notNull(),
    line: integer("line").notNull(),
    /** Titles of the groups that contain the test, and then the title of the test. */
    titles: jsonb("titles").$type<string[]>().notNull(),
    status: text("status").$type<TestStatus>().notNull(),
    /** Total duration of all attempts of the test, in milliseconds. */
    durationMs: integer("duration_ms").notNull(),
    /** Number of attempts: the first one and the retries. */
    attempts: integer("attempts").notNull(),
    /** The errors of the last failed attempt, with their locations in the test. */
    errors: jsonb("errors").$type<string[]>().notNull(),
    steps: jsonb("steps").$type<TestStep[]>().notNull(),
    attachments: jsonb("attachments").$type<TestAttachment[]>().notNull(),
    /** Annotations of the test, such as `fixme` or `issue`. */
    annotations: jsonb("annotations").$type<{ type: string; description?: string }[]>().notNull(),
    /** Output of the test, truncated. */
    output: text("output").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.testRunId, table.position] }),
    oneOf("test_results_target", table.target, TEST_TARGETS),
    oneOf("test_results_status", table.status, TEST_STATUSES),
  ],
);
