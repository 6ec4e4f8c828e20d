import assert from "node:assert/strict";
import { test } from "node:test";
import { applyEvent } from "./apply-event.ts";
import { createSessionStore } from "./page-store.ts";
import { AT, event, publicationOf, snapshot, started } from "./testing.ts";
import type { Publication, VariantRevision, VariantView } from "./view-types.ts";

const summary = (
  key: string,
  revision: number,
  status: "pass" | "fail" | null = null,
  publication: Publication | null = null,
) => ({
  key,
  revision,
  check: status && { status, at: AT },
  publication,
});
const updated = (seq: number, variant: object, changeCount: number, isShown = true) =>
  event(seq, { kind: "variant.updated", variant, author: "agent", changeCount, isShown });
const factsOf = (variants: VariantView[]) =>
  variants.map(({ key, revision, check, changeCount, isShown }) =>
    [key, revision, check?.status ?? "unchecked", changeCount, isShown].join(" "),
  );

test("a new revision and its check update the variant, and each is news", () => {
  let state = applyEvent(started, updated(5, summary("main", 1), 2));
  assert.deepEqual(factsOf(state.variants), ["main 1 unchecked 2 true"]);
  state = applyEvent(state, updated(6, summary("main", 1, "pass"), 2));
  assert.deepEqual(factsOf(state.variants), ["main 1 pass 2 true"]);
  state = applyEvent(state, updated(7, summary("main", 2), 3));
  assert.deepEqual([factsOf(state.variants), state.variantChanges], [["main 2 unchecked 3 true"], 3]);
});

test("the live browser shows one variant at most", () => {
  let state = applyEvent(started, updated(5, summary("main", 1), 2));
  state = applyEvent(state, updated(6, summary("b", 1), 1));
  assert.deepEqual(factsOf(state.variants), ["main 1 unchecked 2 false", "b 1 unchecked 1 true"]);
  state = applyEvent(state, updated(7, summary("b", 1), 1, false));
  assert.deepEqual(factsOf(state.variants), ["main 1 unchecked 2 false", "b 1 unchecked 1 false"]);
});

test("the answer to an edit may come before or after its event, and an older event reverts nothing", () => {
  const store = createSessionStore(snapshot);
  const receive = (data: ReturnType<typeof updated>) =>
    store.receive({ type: "variant.updated", seq: data.seq, sessionId: data.sessionId, timestamp: AT, data });
  receive(updated(4, summary("main", 1), 2));
  store.mergeVariants([summary("main", 3)]);
  assert.deepEqual(factsOf(store.getState().variants), ["main 3 unchecked  true"]);
  receive(updated(5, summary("main", 2), 5));
  assert.deepEqual(factsOf(store.getState().variants), ["main 3 unchecked  true"]);
  receive(updated(6, summary("main", 3), 1));
  assert.deepEqual(factsOf(store.getState().variants), ["main 3 unchecked 1 true"]);
  store.mergeVariants([summary("main", 2)]);
  assert.deepEqual(factsOf(store.getState().variants), ["main 3 unchecked 1 true"]);
});

test("reading a revision adds the facts that a list of variants does not have", () => {
  const store = createSessionStore(snapshot);
  store.mergeVariants([summary("main", 2)]);
  const revision: VariantRevision = {
    variant: "main",
    revision: 2,
    author: "person",
    createdAt: AT,
    isShown: true,
    document: {
      pages: [
        {
          url: "https://shop.example/",
          match: "path",
          css: "",
          js: "",
          changes: [{ id: "c1", op: "remove", selector: "p" }],
        },
      ],
    },
    check: null,
  };
  store.addRevisionFacts({ ...revision, revision: 1 });
  assert.deepEqual(factsOf(store.getState().variants), ["main 2 unchecked  false"]);
  store.addRevisionFacts(revision);
  assert.deepEqual(factsOf(store.getState().variants), ["main 2 unchecked 1 true"]);
  store.setShownVariant(null);
  assert.deepEqual(factsOf(store.getState().variants), ["main 2 unchecked 1 false"]);
});

test("the publication follows the snapshot, the events and the answers", () => {
  const variants = [{ ...summary("main", 2, null, publicationOf(1, 1)), changeCount: 1, isShown: true }];
  const store = createSessionStore({ ...snapshot, variants });
  const release = () => store.getState().variants[0]?.publication?.number ?? null;
  const receive = (data: ReturnType<typeof updated>) =>
    store.receive({ type: "variant.updated", seq: data.seq, sessionId: data.sessionId, timestamp: AT, data });
  assert.equal(release(), 1);
  receive(updated(4, summary("main", 2, null, publicationOf(2, 2)), 1));
  assert.equal(release(), 2);
  store.setPublication("main", null);
  assert.equal(release(), null);
  store.mergeVariants([summary("main", 2, null, publicationOf(3, 2))]);
  assert.equal(release(), 3);
  receive(updated(5, summary("main", 1, null, publicationOf(1, 1)), 1));
  assert.equal(release(), 3, "an event about an older revision changes nothing");
});

test("previews are replaced as a set", () => {
  const preview = { title: "Checkout", url: "https://shop.example/", variant: null };
  let state = applyEvent(started, event(5, { kind: "preview.updated", previews: [preview, preview] }));
  state = applyEvent(state, event(6, { kind: "preview.updated", previews: [preview] }));
  assert.deepEqual([state.previews.length, state.previewChanges], [1, 2]);
});
