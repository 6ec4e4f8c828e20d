import assert from "node:assert/strict";
import { test } from "node:test";
import { createDraftStore } from "./draft-store.ts";

/** A storage in memory that refuses more than `charactersMax` characters. */
function createStorage(charactersMax = Number.POSITIVE_INFINITY): Storage {
  const items = new Map<string, string>();
  return {
    get length() {
      return items.size;
    },
    key: (index) => [...items.keys()][index] ?? null,
    getItem: (key) => items.get(key) ?? null,
    setItem(key, value) {
      if (value.length > charactersMax) throw new DOMException("full", "QuotaExceededError");
      items.set(key, value);
    },
    removeItem: (key) => void items.delete(key),
    clear: () => items.clear(),
  };
}

test("a draft, the values of a form and own stops are read by the next page of the same session only", () => {
  const storage = createStorage();
  const first = createDraftStore("ses_a", storage);
  first.writeMessage("Please look");
  first.writeAnswer("eli_1", { email: "a@b.c" });
  first.addOwnStop("run_1");
  const next = createDraftStore("ses_a", storage);
  assert.equal(next.readMessage(), "Please look");
  assert.deepEqual(next.readAnswer("eli_1"), { email: "a@b.c" });
  assert.deepEqual(next.readOwnStops(), ["run_1"]);
  assert.equal(createDraftStore("ses_b", storage).readMessage(), "");
});

test("nothing is left when everything was sent", () => {
  const storage = createStorage();
  const drafts = createDraftStore("ses_a", storage);
  drafts.writeMessage("Please look");
  drafts.writeAnswer("eli_1", "EUR");
  drafts.writeMessage("");
  drafts.writeAnswer("eli_1", undefined);
  assert.equal(storage.length, 0);
});

test("the drafts of 20 sessions are kept, the oldest is removed", () => {
  const storage = createStorage();
  let time = 0;
  for (let index = 0; index <= 20; index++)
    createDraftStore(`ses_${index}`, storage, () => time++).writeMessage(`draft ${index}`);
  assert.equal(storage.length, 20);
  assert.equal(createDraftStore("ses_0", storage).readMessage(), "");
  assert.equal(createDraftStore("ses_1", storage).readMessage(), "draft 1");
});

test("a draft of more than 200,000 characters is not kept, nor is a shorter one before it", () => {
  const storage = createStorage();
  const drafts = createDraftStore("ses_a", storage);
  drafts.writeMessage("short");
  drafts.writeMessage("a".repeat(200_000));
  assert.equal(storage.length, 0);
});

test("values of ten questions and 20 stops are kept", () => {
  const drafts = createDraftStore("ses_a", createStorage());
  for (let index = 0; index < 25; index++) {
    drafts.writeAnswer(`eli_${index}`, "a");
    drafts.addOwnStop(`run_${index}`);
  }
  assert.equal(drafts.readAnswer("eli_14"), undefined);
  assert.equal(drafts.readAnswer("eli_15"), "a");
  assert.equal(drafts.readOwnStops().length, 20);
});

test("the page works without a storage, with a full one, and with what others wrote", () => {
  createDraftStore("ses_a", undefined).writeMessage("a");
  const full = createDraftStore("ses_a", createStorage(1));
  full.writeMessage("a long text");
  assert.equal(full.readMessage(), "");
  const storage = createStorage();
  for (const text of ["{", "3", '{"at":1,"message":3}', '{"at":1,"ownStops":[1]}']) {
    storage.setItem("agent-session-draft:ses_a", text);
    assert.equal(createDraftStore("ses_a", storage).readMessage(), "");
    assert.deepEqual(createDraftStore("ses_a", storage).readOwnStops(), []);
  }
});
