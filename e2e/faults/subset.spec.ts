import { randomUUID } from "node:crypto";
import { expect, test } from "@playwright/test";
import { prepareTestDatabase } from "#db/testing.ts";
import { chain } from "./cases/chain.ts";
import { type Oracle, startOracle } from "./oracle/start-oracle.ts";
import { runCase } from "./run-case.ts";

// Plays one case of the campaign. `npm run faults` plays all of them.
let oracle: Oracle;

test.beforeAll(async () => {
  oracle = await startOracle();
});
test.afterAll(async () => {
  await oracle.close();
});

/** The run uses the database of the test runner, which drops it after the tests. */
const existingDatabase = (url: string) => ({ create: async () => url, drop: async () => {} });

test("kill -9 at six points of structured sessions breaks no promise", async () => {
  test.setTimeout(480_000);
  const { DATABASE_URL: url } = await prepareTestDatabase(randomUUID());
  const { violations } = await runCase(chain, 1, {
    oracle,
    ...(url && { databases: existingDatabase(url) }),
  });
  // Other tests run at the same time, so upper limits of time are not checked here. The campaign checks them.
  expect(violations.filter((violation) => !violation.endsWith("ms too late"))).toEqual([]);
});
