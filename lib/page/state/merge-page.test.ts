import assert from "node:assert/strict";
import { test } from "node:test";
import { createSessionStore, type SessionStore } from "./page-store.ts";
import { AT, event, snapshot } from "./testing.ts";
import type { LandingPage } from "./view-types.ts";

const page = (slug: string, version: number | null, second: number): LandingPage => ({
  slug,
  url: `https://service.example/p/${slug}/`,
  version,
  newestVersion: 2,
  files: version && 1,
  bytes: version && 10,
  note: null,
  updatedAt: `2026-11-20T12:00:0${second}.000Z`,
});

function receive(
  store: SessionStore,
  seq: number,
  kind: "page.deployed" | "page.updated",
  page: LandingPage,
): void {
  const data = event(seq, { kind, page });
  store.receive({ type: kind, seq, sessionId: data.sessionId, timestamp: AT, data });
}

test("deployed and changed pages are merged by slug, in the order in which they arrived", () => {
  const store = createSessionStore(snapshot);
  receive(store, 4, "page.deployed", page("a", 1, 1));
  receive(store, 5, "page.deployed", page("b", 1, 2));
  receive(store, 6, "page.updated", page("a", null, 3));
  const { pages, pageChanges } = store.getState();
  assert.deepEqual(pages, [page("a", null, 3), page("b", 1, 2)]);
  assert.equal(pageChanges, 3);
});

test("an event that is older than the answer of this visitor's action changes nothing", () => {
  const store = createSessionStore({ ...snapshot, pages: [page("a", 1, 1)] });
  store.mergePage(page("a", null, 5));
  receive(store, 4, "page.updated", page("a", 2, 4));
  assert.equal(store.getState().pages[0]?.version, null);
});
