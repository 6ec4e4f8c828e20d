import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenBrowser } from "../page/open-browser.ts";
import { createBrowserPool } from "./browser-pool.ts";

const logger = { info() {}, warn() {}, error() {}, debug() {} };

/** Creates a pool of fake browsers, which have no behavior except that they can be closed. */
function makePool(keepSpare = true, spareIdleMs?: number) {
  const started: { isUp: boolean }[] = [];
  const failures: Error[] = [];
  const open = async () => {
    const failure = failures.pop();
    if (failure) throw failure;
    const self = { isUp: true };
    started.push(self);
    const isOpen = () => self.isUp;
    const close = async () => {
      self.isUp = false;
    };
    return { isOpen, close } as unknown as OpenBrowser;
  };
  return {
    pool: createBrowserPool({
      open,
      hasRoom: () => false,
      keepSpare,
      logger,
      ...(spareIdleMs && { spareIdleMs }),
    }),
    started,
    failures,
  };
}

test("the spare is handed out, and started only once", async () => {
  const { pool, started } = makePool();
  pool.warmUp();
  pool.warmUp();
  await pool.take(undefined);
  assert.equal(started.length, 1);
  await pool.close();
});

test("a spare that ended meanwhile is not handed out", async () => {
  const { pool, started } = makePool();
  pool.warmUp();
  await new Promise(setImmediate);
  if (started[0]) started[0].isUp = false;
  assert.equal((await pool.take(undefined)).isOpen(), true);
  assert.equal(started.length, 2);
  await pool.close();
});

test("closing the pool ends the spare, and no other is started", async () => {
  const { pool, started } = makePool();
  pool.warmUp();
  await pool.close();
  pool.warmUp();
  assert.deepEqual(started, [{ isUp: false }]);
});

test("a spare that is not taken is closed, and the next session starts a new browser", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { pool, started } = makePool(true, 1_000);
  pool.warmUp();
  await new Promise(setImmediate);
  t.mock.timers.tick(900);
  pool.warmUp();
  t.mock.timers.tick(900);
  assert.deepEqual(started, [{ isUp: true }]);
  t.mock.timers.tick(200);
  await new Promise(setImmediate);
  assert.deepEqual(started, [{ isUp: false }]);
  assert.equal((await pool.take(undefined)).isOpen(), true);
  assert.equal(started.length, 2);
  await pool.close();
});

test("a spare that could not be started is tried again by the next warm-up", async () => {
  const { pool, started, failures } = makePool();
  failures.push(new Error("no memory"));
  pool.warmUp();
  await new Promise(setImmediate);
  assert.equal(started.length, 0);
  pool.warmUp();
  await new Promise(setImmediate);
  assert.equal(started.length, 1);
  await pool.close();
});

test("without `keepSpare`, no browser is started in advance", async () => {
  const { pool, started } = makePool(false);
  pool.warmUp();
  assert.equal(started.length, 0);
  await pool.close();
});
