import { randomUUID } from "node:crypto";
import { expect, test } from "@playwright/test";
import { prepareTestDatabase } from "#db/testing.ts";
import { chain } from "./cases/chain.ts";
import { type Recorder, startRecorder } from "./recorder/start-recorder.ts";
import { runCase } from "./run-case.ts";

// Plays one case of the fault campaign. `npm run faults` plays all cases.
let recorder: Recorder;

test.beforeAll(async () => {
  recorder = await startRecorder();
});
test.afterAll(async () => {
  await recorder.close();
});

/**
 * Returns the database of the test runner for every run, and drops nothing: the test runner drops it after the tests.
 */
const existingDatabase = (url: string) => ({ create: async () => url, drop: async () => {} });

test("kill -9 at six points of structured sessions breaks no promise", async () => {
  test.setTimeout(480_000);
  const { DATABASE_URL: url } = await prepareTestDatabase(randomUUID());
  const { violations } = await runCase(chain, 1, {
    recorder,
    ...(url && { databases: existingDatabase(url) }),
  });
  // Upper time limits are not checked here, because other tests run at the same time. `npm run faults` checks them.
  expect(violations.filter((violation) => !violation.endsWith("ms too late"))).toEqual([]);
});
