import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { runs } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { createDiskFloor } from "#lib/disk/disk-floor.ts";
import { insertTestSession } from "#lib/session/transcript/transcript-fixture.ts";
import { createEvidenceStore, type NewEvidence, removeEvidenceFiles, SHARED_BYTES_MAX } from "./evidence.ts";
import type { EvidencePosition } from "./evidence-store.ts";
import { removeOldEvidence } from "./remove-old-evidence.ts";

const { db, client, close } = await openTestDatabase();
const dataDir = await mkdtemp(join(tmpdir(), "evidence-test-"));
const store = createEvidenceStore({ db, dataDir });
const { runId } = await insertTestSession(db, "ses_a");
await insertTestSession(db, "ses_b");
const shot = (fields: Partial<NewEvidence> = {}): NewEvidence => ({
  sessionId: "ses_a",
  runId,
  kind: "screenshot",
  title: "Checkout",
  url: "https://shop.example/checkout",
  mediaType: "image/png",
  bytes: new Uint8Array([1, 2, 3]),
  ...fields,
});

after(async () => {
  await close();
  await rm(dataDir, { recursive: true, force: true });
});

describe("the evidence store", () => {
  it("stores the bytes in evidence/<session>/<id>, and a row that points to them", async () => {
    const pointer = await store.save(shot());
    assert.match(pointer.id, /^evi_/);
    const file = await readFile(join(dataDir, "evidence", "ses_a", pointer.id));
    assert.deepEqual([...file], [1, 2, 3]);
    const read = await store.read("ses_a", pointer.id);
    assert.deepEqual(read?.pointer, pointer);
    assert.deepEqual([...(read?.bytes ?? [])], [1, 2, 3]);
  });

  it("lists a session's evidence with size and time", async () => {
    const [first] = await store.list("ses_a");
    assert.equal(first?.sizeBytes, 3);
    assert.equal(first?.url, "https://shop.example/checkout");
    assert.ok(!Number.isNaN(Date.parse(first?.createdAt ?? "")));
    assert.deepEqual(await store.list("ses_b"), []);
  });

  it("does not find the evidence of another session", async () => {
    const pointer = await store.save(shot());
    assert.equal(await store.read("ses_b", pointer.id), undefined);
  });

  it("leaves neither a file nor a temporary file if the row cannot be written", async () => {
    const before = await readdir(join(dataDir, "evidence", "ses_a"));
    await assert.rejects(store.save(shot({ runId: "run_unknown" })));
    assert.deepEqual(await readdir(join(dataDir, "evidence", "ses_a")), before);
  });

  for (const [what, damage] of [
    ["is gone", (path: string) => rm(path)],
    ["is a folder", (path: string) => rm(path).then(() => mkdir(path))],
    ["is cut off, as after a power failure", (path: string) => truncate(path, 0)],
    ["is in a folder that is gone", (path: string) => rm(join(path, ".."), { recursive: true })],
  ] as const)
    it(`returns evidence whose file ${what} without bytes`, async () => {
      const pointer = await store.save(shot());
      await damage(join(dataDir, "evidence", "ses_a", pointer.id));
      assert.deepEqual(await store.read("ses_a", pointer.id), { pointer, bytes: undefined });
    });

  it("stores no file on a disk with too little free space", async () => {
    const disk = createDiskFloor(dataDir, 2 ** 60);
    const full = createEvidenceStore({ db, dataDir, disk });
    const before = (await store.list("ses_a")).length;
    await assert.rejects(
      full.save(shot()),
      /^Error: the service's disk has \d+ MiB free, and \d+ MiB must stay free/,
    );
    assert.equal((await store.list("ses_a")).length, before);
  });

  for (const [where, of] of [
    ["a file", store],
    ["the database", createEvidenceStore({ db, dataDir: undefined })],
  ] as const)
    it(`stores evidence in ${where} once if it is saved again with the same key, also at the same time`, async () => {
      const objects = async () => (await client.query("select oid from pg_largeobject_metadata")).rows.length;
      const files = () => readdir(join(dataDir, "evidence", "ses_a"));
      // The folder exists from then on.
      await store.save(shot());
      const before = {
        rows: (await store.list("ses_a")).length,
        stored: (await files()).length + (await objects()),
      };
      const key = crypto.randomUUID();
      const first = await of.save(shot({ key }));
      const repeats = await Promise.all([
        of.save(shot({ key })),
        of.save(shot({ key })),
        of.save(shot({ key })),
      ]);
      assert.deepEqual(repeats, [first, first, first]);
      assert.deepEqual([...((await of.read("ses_a", first.id))?.bytes ?? [])], [1, 2, 3]);
      await assert.rejects(of.save(shot({ key, title: "Another" })), /another piece of evidence/);
      assert.deepEqual(
        { rows: (await store.list("ses_a")).length, stored: (await files()).length + (await objects()) },
        { rows: before.rows + 1, stored: before.stored + 1 },
      );
    });

  it("keeps evidence of two sessions with the same key apart", async () => {
    const ids = await Promise.all(
      ["ses_a", "ses_b"].map(async (sessionId) => (await store.save(shot({ sessionId, key: "same" }))).id),
    );
    assert.notEqual(ids[0], ids[1]);
    await removeEvidenceFiles(dataDir, "ses_b");
  });

  it("refuses an id that is not a session's", async () => {
    await assert.rejects(store.save(shot({ sessionId: "../up" })), /not a session id/);
  });

  it("removes a session's files", async () => {
    await removeEvidenceFiles(dataDir, "ses_a");
    await assert.rejects(readdir(join(dataDir, "evidence", "ses_a")));
  });
});

describe("the evidence store without a data folder", () => {
  const inDatabase = createEvidenceStore({ db, dataDir: undefined });

  it("stores the bytes in the database, where every process finds them", async () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256);
    const pointer = await inDatabase.save(shot({ bytes }));
    const read = await inDatabase.read("ses_a", pointer.id);
    assert.deepEqual(read?.pointer, pointer);
    assert.ok(Buffer.from(read?.bytes ?? []).equals(bytes));
    assert.ok(await store.read("ses_a", pointer.id), "a process with a folder reads them too");
  });

  it("returns evidence whose large object is gone without bytes", async () => {
    const pointer = await inDatabase.save(shot());
    await client.query(
      `select lo_unlink(replace(path, 'database:', '')::oid) from evidence where id = '${pointer.id}'`,
    );
    assert.deepEqual(await inDatabase.read("ses_a", pointer.id), { pointer, bytes: undefined });
  });

  it("leaves no large object if the row cannot be written", async () => {
    const count = async () => (await client.query("select oid from pg_largeobject_metadata")).rows.length;
    const before = await count();
    await assert.rejects(inDatabase.save(shot({ runId: "run_unknown" })));
    assert.equal(await count(), before);
  });
});

describe("two processes with data folders of their own on one database", () => {
  const other = join(dataDir, "other");
  const [first, second] = [dataDir, other].map((folder) =>
    createEvidenceStore({ db, dataDir: folder, isShared: true }),
  );

  it("read small evidence of each other, which is in the database", async () => {
    const pointer = await first?.save(shot());
    assert.deepEqual((await second?.read("ses_a", pointer?.id ?? ""))?.bytes, Buffer.from([1, 2, 3]));
  });

  it("find large evidence of each other without its bytes", async () => {
    const pointer = await first?.save(shot({ bytes: new Uint8Array(SHARED_BYTES_MAX + 1) }));
    const id = pointer?.id ?? "";
    assert.equal((await first?.read("ses_a", id))?.bytes?.byteLength, SHARED_BYTES_MAX + 1);
    assert.deepEqual(await second?.read("ses_a", id), { pointer, bytes: undefined });
  });
});

describe("old evidence", () => {
  it("that cannot be removed does not keep the batches behind it from being removed", async () => {
    const session = "ses_old";
    const { runId: oldRun } = await insertTestSession(db, session);
    await db.update(runs).set({ state: "succeeded", endedAt: new Date() }).where(eq(runs.sessionId, session));
    const saved = [];
    for (let place = 0; place < 3; place++)
      saved.push(await store.save(shot({ sessionId: session, runId: oldRun })));
    const [stuck, ...others] = saved;
    const file = join(dataDir, "evidence", session, stuck?.id ?? "");
    await rm(file);
    await mkdir(file);
    const options = { db, dataDir, isAlone: true };
    const page = { before: new Date(Date.now() + 60_000), limit: 1 };
    const batches = [];
    for (let after: EvidencePosition | null = null; ; ) {
      const batch = await removeOldEvidence(options, { ...page, after });
      batches.push([batch.failed.map(({ id }) => id), batch.removed]);
      after = batch.next;
      if (!after) break;
    }
    assert.deepEqual(batches, [[[stuck?.id], 0], ...others.map(() => [[], 1]), [[], 0]]);
    assert.deepEqual(
      (await store.list(session)).map(({ id }) => id),
      [stuck?.id],
    );
  });
});
