import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createMemoryBus } from "#lib/events/bus/local-bus.ts";
import { waitUntil } from "#lib/events/testing.ts";
import { KEY_SCOPES } from "#lib/keys/key-scopes.ts";
import type { LiveKey } from "#lib/keys/key-store.ts";
import {
  ACCESS_TOPIC,
  type AccessRows,
  createAccessWatch,
  type Grant,
  type GrantEnd,
} from "./access-watch.ts";

/** Creates the watches of two processes on one bus. Both read the same rows, which the test changes. */
function openPair(options: { sweepMs?: number } = {}) {
  const bus = createMemoryBus();
  const keys = new Map<string, LiveKey>();
  const shares: Awaited<ReturnType<AccessRows["readShares"]>> = new Map();
  const gaps: (() => void)[] = [];
  let reads = 0;
  let isReachable = true;
  const read = <Row>(rows: Map<string, Row>, ids: string[]) => {
    reads++;
    if (!isReachable) throw new Error("the database is unreachable");
    return new Map([...rows].filter(([id]) => ids.includes(id)));
  };
  const open = () =>
    createAccessWatch({
      ...options,
      rows: {
        readKeys: async (ids) => read(keys, ids),
        readShares: async (ids) => read(shares, ids),
      },
      topic: {
        publish: (text) => bus.signal(ACCESS_TOPIC, text),
        subscribe(onText, onGap) {
          gaps.push(onGap);
          return bus.onSignal(ACCESS_TOPIC, onText);
        },
      },
      logger: { warn() {} },
    });
  return {
    keys,
    shares,
    here: open(),
    there: open(),
    reads: () => reads,
    reportGap: () => gaps.forEach((onGap) => void onGap()),
    setReachable(value: boolean) {
      isReachable = value;
    },
  };
}

const grantOf = (keyId: string, more: Partial<Grant> = {}): Grant =>
  ({
    kind: "key",
    keyId,
    scopes: KEY_SCOPES,
    expiresAt: null,
    checkedAt: performance.now(),
    ...more,
  }) as Grant;
const live = (more: Partial<LiveKey> = {}): LiveKey => ({ scopes: KEY_SCOPES, expiresAt: null, ...more });
const shareOf = (linkId: string | null, revocation = 0): Grant => ({
  kind: "share",
  sessionId: "ses_a",
  linkId,
  revocation,
  expiresAt: null,
  checkedAt: performance.now(),
});

function open(access: ReturnType<typeof openPair>["here"], grant: Grant) {
  const ends: GrantEnd[] = [];
  return { ends, close: access.watch(grant, (end) => ends.push(end)) };
}

describe("open connections", () => {
  test("end in every process when their key is revoked; connections of other keys cause no reads", async () => {
    const pair = openPair();
    pair.keys.set("other", live());
    const [near, far] = [open(pair.here, grantOf("gone")), open(pair.there, grantOf("gone"))];
    const other = open(pair.there, grantOf("other"));
    assert.equal(pair.reads(), 0);
    pair.here.keyChanged("gone");
    await waitUntil(() => near.ends.length + far.ends.length === 2, "both have ended");
    assert.deepEqual(far.ends, [{ reason: "ended", sentence: "the API key was revoked" }]);
    assert.equal(other.ends.length, 0);
    assert.equal(pair.reads(), 2, "one statement for each process with a connection of that key");
  });

  test("end with their share link or, for a token of the session, with its revocation counter", async () => {
    const pair = openPair();
    pair.shares.set("ses_a", { revocation: 1, links: new Map([["lnk_live", null]]) });
    const [gone, live] = [open(pair.here, shareOf("lnk_gone")), open(pair.here, shareOf("lnk_live"))];
    const [outdated, current] = [open(pair.here, shareOf(null, 0)), open(pair.here, shareOf(null, 1))];
    pair.there.sharesChanged("ses_a");
    await waitUntil(() => gone.ends.length + outdated.ends.length === 2, "both have ended");
    assert.deepEqual(gone.ends, [{ reason: "ended", sentence: "the share link was revoked" }]);
    assert.deepEqual([live.ends, current.ends], [[], []]);
  });

  test("end when their credential expires, also if the expiry was set after they were opened", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000 });
    const pair = openPair();
    const day = 24 * 3_600_000;
    const first = open(pair.here, grantOf("first", { expiresAt: new Date(1_000 + 60 * day) }));
    const second = open(pair.here, grantOf("second"));
    pair.keys.set("second", live({ expiresAt: new Date(1_000 + day) }));
    pair.here.keyChanged("second");
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    t.mock.timers.tick(day - 1);
    assert.equal(second.ends.length, 0);
    t.mock.timers.tick(1);
    assert.deepEqual(second.ends, [{ reason: "ended", sentence: "the API key has expired" }]);
    // 58 days are more than the longest delay that a Node.js timer supports (about 25 days).
    t.mock.timers.tick(58 * day);
    assert.equal(first.ends.length, 0);
    t.mock.timers.tick(day);
    assert.equal(first.ends.length, 1);
  });

  test("end if the change happened between the check of their credential and the start of the watch", async () => {
    const pair = openPair();
    const grant = grantOf("gone");
    pair.there.keyChanged("gone");
    const late = open(pair.here, grant);
    await waitUntil(() => late.ends.length === 1, "it has ended");
  });

  test("are compared with the rows after messages were missed, and end if that fails", async () => {
    const pair = openPair();
    pair.keys.set("live", live());
    const [gone, other] = [open(pair.here, grantOf("gone")), open(pair.here, grantOf("live"))];
    pair.reportGap();
    await waitUntil(() => gone.ends.length === 1, "the revoked one has ended");
    assert.equal(other.ends.length, 0);
    pair.setReachable(false);
    pair.reportGap();
    await waitUntil(() => other.ends.length === 1, "the other one has ended");
    assert.equal(other.ends[0]?.reason, "unknown");
  });

  test("end when their key loses a scope that they need; connections that do not need it stay", async () => {
    const pair = openPair();
    pair.keys.set("narrowed", live({ scopes: ["sessions:read"] }));
    const driver = open(pair.there, grantOf("narrowed"));
    const reader = open(pair.there, grantOf("narrowed", { scopes: ["sessions:read"] }));
    pair.here.keyChanged("narrowed");
    await waitUntil(() => driver.ends.length === 1, "the one that needs more has ended");
    assert.deepEqual(driver.ends, [
      { reason: "narrowed", sentence: "the scopes of the API key changed; connect again" },
    ]);
    assert.equal(reader.ends.length, 0);
  });

  test("end even if no message arrives, and stay open while the database is unreachable", async () => {
    const pair = openPair({ sweepMs: 20 });
    pair.keys.set("other", live());
    pair.setReachable(false);
    const [gone, other] = [open(pair.here, grantOf("gone")), open(pair.here, grantOf("other"))];
    await waitUntil(() => pair.reads() >= 2, "the rows could not be read twice");
    assert.equal(gone.ends.length, 0);
    pair.setReachable(true);
    await waitUntil(() => gone.ends.length === 1, "the revoked one has ended");
    assert.equal(gone.ends[0]?.reason, "ended");
    assert.equal(other.ends.length, 0);
    other.close();
    const before = pair.reads();
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.equal(pair.reads(), before, "nothing is read without connections");
    pair.here.close();
  });

  test("that are closed are no longer watched", async () => {
    const pair = openPair();
    const closed = open(pair.here, grantOf("gone"));
    closed.close();
    pair.here.keyChanged("gone");
    assert.equal(pair.reads(), 0);
    assert.equal(closed.ends.length, 0);
  });
});
