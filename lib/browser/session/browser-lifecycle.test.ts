import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { OpenBrowser } from "../page/open-browser.ts";
import type { BrowserRow } from "../store/browser-store.ts";
import { waitFor } from "../testing.ts";
import { createBrowserLifecycle } from "./browser-lifecycle.ts";
import type { StoredRecord } from "./browser-record.ts";
import type { RunningBrowser } from "./lifecycle/lifecycle-state.ts";

const row = { sessionId: "ses_a", returnUrl: null, restartNotice: null } as BrowserRow;

type Deps = Parameters<typeof createBrowserLifecycle>[0];

/** Creates the lifecycle of a browser that starts at once. `warnings` are the logged warnings. */
function openLifecycle(record: Partial<StoredRecord>, over: Partial<Deps> = {}) {
  const warnings: string[] = [];
  const browser = { selected: () => ({ page: { url: () => "about:blank" } }), close: async () => {} };
  const lifecycle = createBrowserLifecycle({
    sessionId: "ses_a",
    // The cast is safe: a lifecycle needs nothing else of a record.
    record: {
      dropClaim: async () => {},
      noteWaiting() {},
      settle: async () => {},
      move: async () => row,
      ...record,
    } as Partial<StoredRecord> as StoredRecord,
    take: async () => browser as unknown as OpenBrowser,
    onTaken() {},
    land: async () => {},
    onReleased() {},
    onEnding: async () => {},
    requestPlace: () => ({
      granted: Promise.resolve(),
      isWaiting: () => false,
      isHandedOver: false,
      enlist() {},
      release() {},
    }),
    placeWait: { waitMs: 60_000, explain: () => "" },
    logger: { debug() {}, info() {}, warn: (_fields, message) => void warnings.push(message), error() {} },
    ...over,
  });
  return { lifecycle, warnings };
}

/** Ends a browser whose end cannot be recorded. @returns the logged warnings. */
async function endUnrecorded(read: StoredRecord["read"]): Promise<string[]> {
  const { lifecycle, warnings } = openLifecycle({
    read,
    move: async (event) => (event === "reaped" ? Promise.reject(new Error("not written")) : row),
  });
  await lifecycle.provision();
  await lifecycle.end();
  return warnings;
}

test("a browser that is discarded ends without waiting for its pages", async () => {
  const moves: string[] = [];
  const move = async (event: string) => {
    moves.push(event);
    return row;
  };
  const { lifecycle } = openLifecycle({ move }, { onEnding: () => new Promise(() => {}) });
  await lifecycle.provision();
  await lifecycle.discard();
  assert.deepEqual(moves, ["provision", "cameUp", "reaped"]);
});

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
    const { lifecycle } = openLifecycle(
      {
        async move(event) {
          moves.push(event);
          if (event === "cameUp") await cameUp.promise;
          return row;
        },
      },
      { onTaken: (running) => void started.push(running) },
    );
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
