import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTestDatabase } from "#db/testing.ts";
import { insertTestSession } from "#lib/browser/testing.ts";
import type { VariantDocument, VariantPage } from "./document.ts";
import { insertRevision, listVariantFacts, setShownVariant, storeCheck } from "./variant-store.ts";

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const BASE_URL = "https://service.example";
const AT = "2026-11-20T10:00:00.000Z";

/** Builds an entry of a document's `pages`, with one change for each id. */
const pageOf = (...ids: string[]): VariantPage => ({
  url: "https://shop.example/",
  match: "path",
  changes: ids.map((id) => ({ id, op: "remove", selector: "p" })),
  css: "",
  js: "",
});

test("the facts are those of the newest revision, with its own check and its changes on all pages", async () => {
  const sessionId = await insertTestSession(database.db);
  const author = { author: "agent", runId: null, callId: null } as const;
  const store = (key: string, number: number, document: VariantDocument) =>
    database.db.transaction((tx) => insertRevision(tx, { sessionId, key, number, document, ...author }));
  assert.deepEqual(await listVariantFacts(database.db, sessionId, BASE_URL), []);

  await store("main", 1, { pages: [pageOf("c1", "c2"), pageOf("c3")] });
  await store("b", 1, { pages: [] });
  const report = { variant: "main", revision: 1, status: "warn", at: AT, durationMs: 1 } as const;
  await database.db.transaction(async (tx) => {
    await setShownVariant(tx, sessionId, "main");
    await storeCheck(tx, sessionId, { ...report, findings: [], pages: [], notes: [] });
  });
  const main = {
    key: "main",
    revision: 1,
    check: { status: "warn", at: AT },
    publication: null,
    changeCount: 3,
    isShown: true,
  };
  const b = { key: "b", revision: 1, check: null, publication: null, changeCount: 0, isShown: false };
  assert.deepEqual(await listVariantFacts(database.db, sessionId, BASE_URL), [main, b]);

  await store("main", 2, { pages: [pageOf("c1")] });
  assert.deepEqual(await listVariantFacts(database.db, sessionId, BASE_URL), [
    { ...main, revision: 2, check: null, changeCount: 1 },
    b,
  ]);
});

test("showing a variant that does not exist leaves the shown variant as it is", async () => {
  const sessionId = await insertTestSession(database.db);
  const author = { author: "agent", runId: null, callId: null } as const;
  await database.db.transaction(async (tx) => {
    for (const key of ["main", "b"])
      await insertRevision(tx, { sessionId, key, number: 1, document: { pages: [] }, ...author });
  });
  const show = (key: string | null) => database.db.transaction((tx) => setShownVariant(tx, sessionId, key));
  const listShown = async () =>
    (await listVariantFacts(database.db, sessionId, BASE_URL)).flatMap(({ key, isShown }) =>
      isShown ? [key] : [],
    );

  assert.equal(await show("main"), true);
  assert.equal(await show("missing"), false);
  assert.deepEqual(await listShown(), ["main"]);
  assert.equal(await show("b"), true);
  assert.deepEqual(await listShown(), ["b"]);
  assert.equal(await show(null), true);
  assert.deepEqual(await listShown(), []);
});
