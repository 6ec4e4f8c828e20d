import { randomUUID } from "node:crypto";
import { expect, test } from "@playwright/test";
import { prepareTestDatabase } from "#db/testing.ts";
import { chain } from "./cases/chain.ts";
import { type Oracle, startOracle } from "./oracle/start-oracle.ts";
import { runCase } from "./run-case.ts";

// The whole campaign is `npm run faults`.
let oracle: Oracle;

test.beforeAll(async () => {
  oracle = await startOracle();
});
test.afterAll(async () => {
  await oracle.close();
});

/** The runner's own database, which goes with the others of its tests. */
const keep = (url: string) => ({ make: async () => url, drop: async () => {} });

test("kill -9 at six points of structured sessions breaks no promise", async () => {
  test.setTimeout(480_000);
  const { DATABASE_URL: url } = await prepareTestDatabase(randomUUID());
  const { violations } = await runCase(chain, 1, { oracle, ...(url && { databases: keep(url) }) });
  // Other tests run beside this one: only the campaign, which has the machine to itself, can tell what came too late.
  expect(violations.filter((violation) => !violation.endsWith("ms too late"))).toEqual([]);
});
