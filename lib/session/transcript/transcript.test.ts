import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { openTestDatabase } from "#db/testing.ts";
import { createTranscriptReader, excerptAround } from "./transcript.ts";
import { insertTestSession } from "./transcript-fixture.ts";

const { db, close } = await openTestDatabase();
const reader = createTranscriptReader({ db });
const mine = await insertTestSession(db, "ses_mine");
const other = await insertTestSession(db, "ses_other");
const text = (value: string) => [{ type: "text" as const, text: value }];
await mine.addMessage("msg_1", 1, text("Look at the Checkout page"));
await mine.addMessage("msg_2", 2, [
  ...text("100% sure_thing"),
  { type: "tool-call", toolCallId: "c", toolName: "fetch_url", input: { url: "checkout-in-a-call" } },
]);
await mine.addMessage("msg_3", 3, text("the checkout asks for a name"));
await mine.addMessage("msg_queued", null, text("checkout, later"));
await other.addMessage("msg_other", 1, text("checkout of another session"));
await mine.addResult("res_mine", "0123456789äöü");
await other.addResult("res_other", "secret");
after(close);

describe("the transcript reader", () => {
  it("lists messages in order after a sequence number, up to a limit, without queued ones", async () => {
    const ids = async (after: number, limit: number) =>
      (await reader.list("ses_mine", { after, limit })).map((message) => message.id);
    assert.deepEqual(await ids(0, 10), ["msg_1", "msg_2", "msg_3"]);
    assert.deepEqual(await ids(1, 1), ["msg_2"]);
    assert.deepEqual(await ids(3, 10), []);
  });

  it("reads one message as the API lists it", async () => {
    assert.deepEqual(await reader.read("ses_mine", "msg_1"), {
      id: "msg_1",
      seq: 1,
      role: "user",
      parts: text("Look at the Checkout page"),
      requestId: null,
      runId: null,
      author: null,
      createdAt: "2026-01-01T00:00:00.000Z",
    });
  });

  it("does not find messages of other sessions or queued messages", async () => {
    assert.equal(await reader.read("ses_mine", "msg_other"), undefined);
    assert.equal(await reader.read("ses_mine", "msg_queued"), undefined);
  });

  it("finds text case-insensitively, newest first, only in text parts", async () => {
    const found = await reader.search("ses_mine", "CHECKOUT", 10);
    assert.deepEqual(
      found.map(({ message, excerpt }) => [message.id, excerpt]),
      [
        ["msg_3", "the checkout asks for a name"],
        ["msg_1", "Look at the Checkout page"],
      ],
    );
    assert.equal((await reader.search("ses_mine", "checkout", 1)).length, 1);
  });

  it("does not interpret %, _ and ' in the text", async () => {
    assert.equal((await reader.search("ses_mine", "0% sure_t", 10)).length, 1);
    assert.equal((await reader.search("ses_mine", "l__k", 10)).length, 0);
    assert.equal((await reader.search("ses_mine", "' or true --", 10)).length, 0);
    assert.equal((await reader.search("ses_mine", "", 10)).length, 0);
  });

  it("reads a stored result in pages", async () => {
    const page = await reader.readToolResult("ses_mine", "res_mine", { offset: 8, limit: 3 });
    assert.deepEqual(page, {
      resultId: "res_mine",
      toolName: "run_shell",
      state: "succeeded",
      text: "89ä",
      offset: 8,
      totalCharacters: 13,
    });
    const past = await reader.readToolResult("ses_mine", "res_mine", { offset: 99, limit: 3 });
    assert.equal(past?.text, "");
  });

  it("does not find results of other sessions", async () => {
    assert.equal(await reader.readToolResult("ses_mine", "res_other", { offset: 0, limit: 9 }), undefined);
  });
});

describe("an excerpt", () => {
  it("is cut around the match, with ellipses", () => {
    const excerpt = excerptAround(`${"a ".repeat(200)}NEEDLE${" b".repeat(200)}`, "needle");
    assert.match(excerpt, /^…(a )+NEEDLE( b)+…$/);
    assert.ok(excerpt.length <= 242);
  });
});
