import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestPostgres } from "#db/postgres-testing.ts";
import { createDatabase } from "#db/testing.ts";
import { openTestService } from "../testing.ts";

test("two services on one Postgres share the rate limit of a key", async (t) => {
  const postgres = await startTestPostgres();
  t.after(() => postgres.stop());
  const limit = 20;
  const variables = {
    DATABASE_URL: await createDatabase(postgres.url, "rates"),
    DATABASE_DRIVER: "pg",
    RATE_LIMIT_POLL: String(limit),
  };
  const services = [await openTestService(variables), await openTestService(variables)];
  t.after(() => Promise.all(services.map((service) => service.close())));

  const startedAt = performance.now();
  const statuses: number[] = [];
  for (let round = 0; round < limit; round++)
    for (const service of services) statuses.push((await service.call("GET", "/api/sessions")).status);
  // While the loop ran, the limit has allowed one more request every three seconds. `refilled` counts these requests.
  const refilled = Math.ceil((performance.now() - startedAt) / (60_000 / limit));
  const allowed = statuses.filter((status) => status === 200).length;
  assert.ok(allowed >= limit && allowed <= limit + refilled, `${allowed} of ${statuses.length} were allowed`);
  assert.deepEqual(
    statuses.filter((status) => status !== 200 && status !== 429),
    [],
  );
});
