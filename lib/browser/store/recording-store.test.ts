import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "drizzle-orm";
import { sessions } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { insertTestSession } from "../testing.ts";
import {
  keepRecordedPicture,
  listRecordedPictures,
  type NewRecordedPicture,
  PICTURES_MAX,
  readRecordedPicture,
  removeOldPictures,
} from "./recording-store.ts";

const LARGE = 2 ** 30;
let database: Awaited<ReturnType<typeof openTestDatabase>>;

before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const picture = (sessionId: string, key: string, bytes = 10): NewRecordedPicture => ({
  sessionId,
  runId: null,
  callId: null,
  url: "https://shop.example/",
  title: key,
  bytes: new Uint8Array(bytes).fill(7),
  key,
});

test("a repeated call stores one picture, which only its session can read", async () => {
  const { db } = database;
  const [own, other] = [await insertTestSession(db), await insertTestSession(db)];
  for (let attempt = 0; attempt < 2; attempt += 1)
    assert.equal(await keepRecordedPicture(db, picture(own, "first"), LARGE), true);
  const [kept, ...more] = await listRecordedPictures(db, own);
  assert.partialDeepStrictEqual(kept, { title: "first", sizeBytes: 10, runId: null });
  assert.deepEqual(more, []);
  assert.deepEqual(
    [...((await readRecordedPicture(db, own, kept?.id ?? "")) ?? [])],
    new Array<number>(10).fill(7),
  );
  assert.equal(await readRecordedPicture(db, other, kept?.id ?? ""), undefined);
});

test("without a budget, or without the session or the run, nothing is stored", async () => {
  const { db } = database;
  const sessionId = await insertTestSession(db);
  assert.equal(await keepRecordedPicture(db, picture(sessionId, "off"), 0), false);
  await keepRecordedPicture(db, { ...picture(sessionId, "run"), runId: "run_gone" }, LARGE);
  await keepRecordedPicture(db, picture("ses_gone", "session"), LARGE);
  assert.deepEqual(await listRecordedPictures(db, sessionId), []);
});

test("a recording that exceeds its budget loses its older pictures evenly", async () => {
  const { db } = database;
  const sessionId = await insertTestSession(db);
  for (let n = 1; n <= 60; n += 1) await keepRecordedPicture(db, picture(sessionId, `${n}`, 100), 5_000);
  const numbers = (await listRecordedPictures(db, sessionId)).map(({ title }) => Number(title));
  assert.ok(numbers.length <= 50, `${numbers.length} pictures`);
  assert.equal(numbers[0], 1);
  assert.deepEqual(
    numbers.slice(-20),
    Array.from({ length: 20 }, (_, index) => 41 + index),
  );
  const gaps = numbers.slice(1).map((n, index) => n - (numbers[index] ?? 0));
  assert.ok(Math.max(...gaps) <= 4, gaps.join(" "));
});

test("a recording of 2,000 steps has at most 500 pictures, and covers all of it", async () => {
  const { db } = database;
  const sessionId = await insertTestSession(db);
  for (let n = 1; n <= 2_000; n += 1) await keepRecordedPicture(db, picture(sessionId, `${n}`), LARGE);
  const numbers = (await listRecordedPictures(db, sessionId)).map(({ title }) => Number(title));
  assert.ok(
    numbers.length <= PICTURES_MAX && numbers.length >= PICTURES_MAX / 4,
    `${numbers.length} pictures`,
  );
  assert.deepEqual([numbers[0], numbers.at(-1)], [1, 2_000]);
  const gaps = numbers.slice(1).map((n, index) => n - (numbers[index] ?? 0));
  assert.ok(Math.max(...gaps) <= 16, `a gap of ${Math.max(...gaps)} steps`);
});

test("old pictures are removed in batches, and all of them with their session", async () => {
  const { db } = database;
  const sessionId = await insertTestSession(db);
  for (const key of ["a", "b", "c"]) await keepRecordedPicture(db, picture(sessionId, key), LARGE);
  await db.execute(
    sql`update recorded_pictures set taken_at = now() - interval '2 days' where session_id = ${sessionId} and title <> 'c'`,
  );
  const before = new Date(Date.now() - 86_400_000);
  assert.deepEqual([await removeOldPictures(db, before, 1), await removeOldPictures(db, before, 10)], [1, 1]);
  assert.deepEqual(
    (await listRecordedPictures(db, sessionId)).map(({ title }) => title),
    ["c"],
  );
  await db.delete(sessions).where(sql`${sessions.id} = ${sessionId}`);
  assert.deepEqual(await listRecordedPictures(db, sessionId), []);
});

test("pictures that exceed the budget alone are removed, too", async () => {
  const { db } = database;
  const sessionId = await insertTestSession(db);
  for (let n = 1; n <= 30; n += 1) await keepRecordedPicture(db, picture(sessionId, `${n}`, 1_000), 5_000);
  const kept = await listRecordedPictures(db, sessionId);
  const numbers = kept.map(({ title }) => Number(title));
  assert.ok(kept.reduce((total, { sizeBytes }) => total + sizeBytes, 0) <= 5_000, numbers.join(" "));
  assert.deepEqual([numbers[0], numbers.at(-1)], [1, 30]);
});
