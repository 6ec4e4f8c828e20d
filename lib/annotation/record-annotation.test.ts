import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Database } from "#db/client.ts";
import { annotations, sessions } from "#db/schema/index.ts";
import { openTestDatabase, sessionRow } from "#db/testing.ts";
import type { BusItem } from "#lib/events/bus/bus.ts";
import { createMemoryBus } from "#lib/events/bus/local-bus.ts";
import { createEventLog, type EventLog } from "#lib/events/event-log.ts";
import { newId } from "#lib/session/new-id.ts";
import { listAnnotations } from "./list-annotations.ts";
import { recordAnnotation } from "./record-annotation.ts";

const NO_LIMITS = { count: 0, bytes: 0 };

let db: Database;
let log: EventLog;
let close: () => Promise<void>;

before(async () => {
  ({ db, close } = await openTestDatabase());
  log = createEventLog(db, createMemoryBus());
});

after(() => close());

async function seedSession(): Promise<string> {
  const id = newId("ses");
  await db.insert(sessions).values(sessionRow({ id, source: "slack" }));
  return id;
}

test("an annotation is stored and broadcast as annotation.submitted with all its fields", async () => {
  const sessionId = await seedSession();
  const received: BusItem[] = [];
  log.subscribe(sessionId, (item) => received.push(item));
  const submission = {
    event: "submit",
    url: "https://a.example/",
    annotations: [{ comment: "Larger", elementPath: "h1" }],
    id: "the overlay's own",
    viewport: { width: 900 },
  };
  const recorded = await recordAnnotation({ log }, sessionId, submission, NO_LIMITS);
  assert.ok(recorded.ok);

  const [stored] = await log.read(sessionId, { after: 0, limit: 10 });
  assert.ok(stored);
  const event = JSON.parse(stored.body);
  const { createdAt, ...annotation } = event.annotation;
  assert.equal(event.kind, "annotation.submitted");
  assert.equal(event.source, "slack");
  assert.deepEqual([event.requestId, event.runId], [null, null]);
  const state = { status: "open", resolution: null, resolvedBy: null, sentRequestId: null };
  assert.deepEqual(annotation, { ...submission, id: recorded.id, ...state });
  assert.equal(new Date(createdAt).toISOString(), createdAt);
  assert.deepEqual(received, [{ type: "event", event: stored }]);

  const [row] = await db.select().from(annotations);
  assert.deepEqual(row?.payload, submission);
  assert.deepEqual((await listAnnotations(db, sessionId, { limit: 5 })).data, [event.annotation]);
});

test("an unknown session is reported, and nothing is written", async () => {
  const before = (await db.select().from(annotations)).length;
  const recorded = await recordAnnotation(
    { log },
    "ses_unknown",
    { event: "submit", annotations: [] },
    NO_LIMITS,
  );
  assert.deepEqual(recorded, { ok: false, reason: "unknown session" });
  assert.equal((await db.select().from(annotations)).length, before);
});

test("the annotations of one session are listed newest first, page by page", async () => {
  const [sessionId, other] = [await seedSession(), await seedSession()];
  const payload = { event: "submit" };
  const ids = ["ann_a", "ann_b", "ann_c"];
  for (const [index, id] of ids.entries())
    await db
      .insert(annotations)
      .values({ id, sessionId, event: "submit", payload, createdAt: new Date(index === 0 ? 0 : 1_000) });
  await db.insert(annotations).values({ id: "ann_x", sessionId: other, event: "submit", payload });
  const first = await listAnnotations(db, sessionId, { limit: 2 });
  assert.deepEqual(
    first.data.map(({ id }) => id),
    ["ann_c", "ann_b"],
  );
  assert.ok(first.nextCursor);
  const second = await listAnnotations(db, sessionId, { limit: 2, cursor: first.nextCursor });
  assert.deepEqual(
    second.data.map(({ id }) => id),
    ["ann_a"],
  );
  assert.equal(second.nextCursor, null);
  assert.deepEqual((await listAnnotations(db, sessionId, { limit: 2, cursor: "ann_x" })).data, []);
});

const note = { event: "submit", annotations: [{ comment: "Larger" }] };

test("a session accepts as many annotations as its limit, also if they arrive concurrently", async () => {
  const sessionId = await seedSession();
  const limits = { count: 3, bytes: 0 };
  const recorded = await Promise.all(
    Array.from({ length: 8 }, () => recordAnnotation({ log }, sessionId, note, limits)),
  );
  assert.equal(recorded.filter(({ ok }) => ok).length, 3);
  assert.equal((await listAnnotations(db, sessionId, { limit: 20 })).data.length, 3);
  assert.equal((await log.read(sessionId, { after: 0, limit: 20 })).length, 3);
  assert.deepEqual(await recordAnnotation({ log }, sessionId, note, limits), {
    ok: false,
    reason: "full",
    error: "the session has 3 annotations; a session may have 3 (ANNOTATIONS_SESSION_MAX)",
  });
});

test("a session accepts as many bytes of annotations as its limit", async () => {
  const sessionId = await seedSession();
  const size = Buffer.byteLength(JSON.stringify(note));
  const limits = { count: 0, bytes: 2 * size };
  for (const isStored of [true, true, false])
    assert.equal((await recordAnnotation({ log }, sessionId, note, limits)).ok, isStored);
  const refused = await recordAnnotation({ log }, sessionId, note, limits);
  assert.match("error" in refused ? refused.error : "", /may have 0\.0 MiB \(ANNOTATIONS_SESSION_MIB\)$/);
});

test("refusals of annotations that arrive concurrently name the limit that was reached", async () => {
  const sessionId = await seedSession();
  const size = Buffer.byteLength(JSON.stringify(note));
  const record = (limits: { count: number; bytes: number }) =>
    recordAnnotation({ log }, sessionId, note, limits);
  const many = await Promise.all(Array.from({ length: 20 }, () => record({ count: 3, bytes: 20 * size })));
  const errors = new Set(many.flatMap((each) => ("error" in each ? [each.error] : [])));
  assert.deepEqual(
    [...errors],
    ["the session has 3 annotations; a session may have 3 (ANNOTATIONS_SESSION_MAX)"],
  );
  const large = await Promise.all(Array.from({ length: 8 }, () => record({ count: 5, bytes: 4 * size })));
  for (const each of large) if ("error" in each) assert.match(each.error, /\(ANNOTATIONS_SESSION_MIB\)$/);
  assert.equal(large.filter(({ ok }) => ok).length, 1);
});

test("a submission that is repeated with its key is stored once, also at the same time and in a full session", async () => {
  const sessionId = await seedSession();
  const limits = { count: 1, bytes: 0 };
  const record = () => recordAnnotation({ log }, sessionId, note, limits, "the key");
  const [first, ...repeats] = await Promise.all([record(), record(), record()]);
  assert.equal(first?.ok, true);
  assert.deepEqual([...repeats, await record()], [first, first, first]);
  assert.equal((await log.read(sessionId, { after: 0, limit: 20 })).length, 1);
  const { data } = await listAnnotations(db, sessionId, { limit: 20 });
  assert.deepEqual(
    data.map(({ id }) => id),
    ["id" in first ? first.id : ""],
  );
});
