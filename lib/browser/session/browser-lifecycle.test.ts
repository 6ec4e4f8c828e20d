import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { OpenBrowser } from "../page/open-browser.ts";
import type { BrowserRow } from "../store/browser-store.ts";
import { waitFor } from "../testing.ts";
import { createBrowserLifecycle, type RunningBrowser } from "./browser-lifecycle.ts";
import type { StoredRecord } from "./browser-record.ts";

const row = { sessionId: "ses_a", returnUrl: null, restartNotice: null } as BrowserRow;

/** Ends a browser whose end cannot be recorded. @returns the logged warnings. */
async function endUnrecorded(read: StoredRecord["read"]): Promise<string[]> {
  const warnings: string[] = [];
  const record = {
    read,
    dropClaim: async () => {},
    noteWaiting() {},
    move: async (event) => (event === "reaped" ? Promise.reject(new Error("not written")) : row),
    settle: async () => {},
  } as Partial<StoredRecord> as StoredRecord;
  const browser = { selected: () => ({ page: { url: () => "about:blank" } }), close: async () => {} };
  const lifecycle = createBrowserLifecycle({
    sessionId: "ses_a",
    record,
    take: async () => browser as unknown as OpenBrowser,
    onTaken() {},
    land: async () => {},
    onReleased() {},
    onEnding: async () => {},
    requestPlace: () => ({
      granted: Promise.resolve(),
      position: () => 0,
      isHandedOver: false,
      enlist() {},
      release() {},
    }),
    placeWait: { waitMs: 60_000, explain: () => "" },
    logger: { debug() {}, info() {}, warn: (_fields, message) => void warnings.push(message), error() {} },
  });
  await lifecycle.provision();
  await lifecycle.end();
  return warnings;
}

describe("a browser's end that cannot be recorded", () => {
  test("is logged as a warning while the session exists, or if that cannot be read", async () => {
    const warnings = ["the end of a browser was not recorded"];
    assert.deepEqual(await endUnrecorded(async () => row), warnings);
    assert.deepEqual(await endUnrecorded(() => Promise.reject(new Error("the database is away"))), warnings);
  });

  test("is not logged once its session was removed", async () => {
    assert.deepEqual(await endUnrecorded(async () => undefined), []);
  });
});

describe("a browser that is lost before its start is recorded", () => {
  test("fails that start, is recorded after it, and the next start waits for the record", async () => {
    const moves: string[] = [];
    const started: RunningBrowser[] = [];
    const cameUp = Promise.withResolvers<void>();
    const record = {
      dropClaim: async () => {},
      noteWaiting() {},
      async move(event) {
        moves.push(event);
        if (event === "cameUp") await cameUp.promise;
        return row;
      },
      settle: async () => {},
    } as Partial<StoredRecord> as StoredRecord;
    const browser = { selected: () => ({ page: { url: () => "about:blank" } }), close: async () => {} };
    const lifecycle = createBrowserLifecycle({
      sessionId: "ses_a",
      record,
      take: async () => browser as unknown as OpenBrowser,
      land: async () => {},
      onReleased() {},
      onEnding: async () => {},
      onTaken: (running) => void started.push(running),
      requestPlace: () => ({
        granted: Promise.resolve(),
        position: () => 0,
        isHandedOver: false,
        enlist() {},
        release() {},
      }),
      placeWait: { waitMs: 60_000, explain: () => "" },
      logger: { debug() {}, info() {}, warn() {}, error() {} },
    });
    const first = lifecycle.provision();
    await waitFor(() => lifecycle.state().kind === "recording", "the browser to be recorded");
    const [lost] = started;
    assert.ok(lost);
    lifecycle.lose(lost, "lost", null);
    assert.equal(lifecycle.state().kind, "ending");
    const second = lifecycle.provision();
    cameUp.resolve();
    await assert.rejects(first, /ended right after its start/);
    assert.equal(await second, started[1]);
    assert.deepEqual(moves, ["provision", "cameUp", "lost", "provision", "cameUp"]);
    assert.equal(lifecycle.state().kind, "up");
  });
});
