import assert from "node:assert/strict";
import { test } from "node:test";
import type { BrowserLease } from "#lib/browser/browser-service.ts";
import { createKeptLeases } from "./kept-leases.ts";

/** Makes leases that note their end. */
function createMaker() {
  const released: number[] = [];
  let made = 0;
  const make = async (): Promise<BrowserLease> => {
    made += 1;
    const number = made;
    return {
      executablePath: "",
      args: [],
      env: {},
      identity: null,
      proxyPort: number,
      listRefusals: async () => [],
      release: async () => void released.push(number),
    };
  };
  return { make, released };
}

test("a lease that its process leaves is continued by the next one, and then released", async () => {
  const { make, released } = createMaker();
  const leases = createKeptLeases(60_000);
  const first = await leases.take("tst_a", make);
  await leases.leave("tst_a", true);
  assert.equal(await leases.take("tst_a", make), first);
  assert.deepEqual([leases.count(), released], [1, []]);
  await leases.leave("tst_a", false);
  assert.deepEqual([leases.count(), released], [0, [1]]);
});

test("a lease that no process continues in time is released, and without such a time at once", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { make, released } = createMaker();
  const leases = createKeptLeases(60_000);
  await leases.take("tst_a", make);
  await leases.leave("tst_a", true);
  t.mock.timers.tick(59_999);
  assert.equal(leases.count(), 1);
  t.mock.timers.tick(1);
  assert.equal(leases.count(), 0);
  const local = createKeptLeases(0);
  await local.take("tst_b", make);
  await local.leave("tst_b", true);
  assert.deepEqual([local.count(), released], [0, [1, 2]]);
});

test("there are at most 100 leases, and one that was not granted is forgotten", async () => {
  const { make } = createMaker();
  const leases = createKeptLeases(60_000);
  await assert.rejects(
    leases.take("tst_none", () => Promise.reject(new Error("no place"))),
    /no place/,
  );
  for (let number = 0; number < 100; number++) await leases.take(`tst_${number}`, make);
  await assert.rejects(leases.take("tst_more", make), /at most 100 test runs/);
  await leases.take("tst_0", make);
  assert.equal(leases.count(), 100);
});
