import assert from "node:assert/strict";
import { test } from "node:test";
import { addContext, type Contexts } from "./relay-state.ts";
import { createShownIds } from "./shown-ids.ts";

const sessionId = "A";

test("the latest 10,000 ids of a kind are kept", () => {
  const ids = createShownIds();
  const show = (requestId: string) =>
    ids.recordEvent({ method: "Network.requestWillBeSent", params: { requestId }, sessionId });
  show("first");
  show("again");
  for (let n = 0; n < 9_999; n++) {
    show(`request ${n}`);
    show("again");
  }
  assert.equal(ids.has("request", "first", sessionId), false);
  for (const id of ["again", "request 0", "request 9998"]) assert.ok(ids.has("request", id, sessionId), id);
  show("one more");
  assert.equal(ids.has("request", "request 0", sessionId), false);
});

test("a node, stream, history entry or init script counts only in the session in which it was shown", () => {
  const ids = createShownIds();
  ids.recordAnswer("DOM.describeNode", { node: { backendNodeId: 1 } }, "A");
  ids.recordAnswer("DOM.getFrameOwner", { backendNodeId: 2 }, "A");
  ids.recordEvent({ method: "Page.fileChooserOpened", params: { backendNodeId: 3 }, sessionId: "A" });
  ids.recordAnswer("Page.printToPDF", { stream: "1" }, "A");
  ids.recordAnswer("Page.getNavigationHistory", { entries: [{ id: 4 }, null, { id: {} }] }, "A");
  ids.recordAnswer("Page.addScriptToEvaluateOnNewDocument", { identifier: "5" }, "A");
  const shown = [
    ["node", 1],
    ["node", 2],
    ["node", 3],
    ["stream", "1"],
    ["history entry", 4],
    ["init script", "5"],
  ] as const;
  for (const [kind, id] of shown) {
    assert.ok(ids.has(kind, id, "A"), `${kind} ${id}`);
    assert.equal(ids.has(kind, id, "B"), false, `${kind} ${id}`);
  }
});

test("the frames of a tree, of events and of targets may be used in every session", () => {
  const ids = createShownIds();
  const tree = { frame: { id: "main" }, childFrames: [{ frame: { id: "inner" }, childFrames: [{}, "x"] }] };
  ids.recordAnswer("Page.getFrameTree", { frameTree: tree }, "A");
  ids.recordEvent({ method: "Page.frameAttached", params: { frameId: "added" }, sessionId: "A" });
  ids.recordEvent({ method: "Target.attachedToTarget", params: { targetInfo: { targetId: "page" } } });
  for (const id of ["main", "inner", "added", "page"]) assert.ok(ids.has("frame", id, "B"), id);
  assert.equal(ids.has("frame", "undefined", "A"), false);
});

test("a page with more than 10,000 contexts ends the script that works on it", () => {
  const contexts: Contexts = new Map();
  for (let id = 0; id < 10_000; id++) addContext(contexts, id, undefined);
  assert.throws(() => addContext(contexts, 10_000, undefined), /more than 10000 contexts/);
});
