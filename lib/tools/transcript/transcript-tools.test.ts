import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { openTestDatabase } from "#db/testing.ts";
import { createEvidenceStore } from "#lib/evidence/evidence.ts";
import { createTranscriptReader } from "#lib/session/transcript/transcript.ts";
import { insertTestSession } from "#lib/session/transcript/transcript-fixture.ts";
import { type ToolCall, unlessWaiting } from "../tool.ts";
import { transcriptTools } from "./transcript-tools.ts";

const { db, close } = await openTestDatabase();
const dataDir = await mkdtemp(join(tmpdir(), "transcript-tools-"));
const { addMessage, addResult, runId, requestId } = await insertTestSession(db, "ses_t");
const evidence = createEvidenceStore({ db, dataDir });
const tools = transcriptTools({ transcript: createTranscriptReader({ db }), evidence });
const call: ToolCall = {
  sessionId: "ses_t",
  browserSessionId: "ses_t",
  rootSessionId: "ses_t",
  requestId,
  runId,
  callId: "call_1",
  mayAskPeople: false,
  hasTool: () => true,
  signal: new AbortController().signal,
};
await addMessage("msg_1", 1, [{ type: "text", text: `Look at the checkout. ${"x".repeat(300)}` }]);
await addMessage("msg_2", 2, [{ type: "tool-call", toolCallId: "c", toolName: "fetch_url", input: {} }]);
await addMessage("msg_3", 3, [{ type: "text", text: "Done." }]);
await addResult("res_long", "a".repeat(25_000));

async function use(name: string, input: unknown) {
  const tool = tools.find((each) => each.name === name);
  assert.ok(tool, name);
  const result = unlessWaiting(await tool.execute(input, call));
  const [content] = result.content;
  return { isError: result.isError, text: content?.type === "text" ? content.text : "" };
}
const json = async (name: string, input: unknown) => JSON.parse((await use(name, input)).text);

after(async () => {
  await close();
  await rm(dataDir, { recursive: true, force: true });
});

describe("transcript tools", () => {
  it("list_transcript shows the beginning of each message, its called tools, and where to continue", async () => {
    const first = await json("list_transcript", { limit: 2 });
    assert.equal(first.nextAfter, 2);
    assert.equal(first.messages[0].text.length, 240);
    assert.deepEqual(first.messages[1].tools, ["fetch_url"]);
    const rest = await json("list_transcript", { after: 2 });
    assert.deepEqual(
      rest.messages.map((message: { id: string }) => message.id),
      ["msg_3"],
    );
    assert.equal(rest.nextAfter, undefined);
  });

  it("read_message returns one whole message, or an error for an unknown id", async () => {
    assert.equal((await json("read_message", { messageId: "msg_3" })).parts[0].text, "Done.");
    const none = await use("read_message", { messageId: "msg_x" });
    assert.equal(none.isError, true);
  });

  it("search_transcript finds text with an excerpt", async () => {
    const [found] = await json("search_transcript", { text: "CHECKOUT" });
    assert.equal(found.id, "msg_1");
    assert.match(found.excerpt, /^Look at the checkout/);
  });

  it("read_tool_result reads a long result in pieces of at most 20,000 characters", async () => {
    const first = await use("read_tool_result", { resultId: "res_long" });
    assert.match(
      first.text,
      /^a{20000}\n\[run_shell succeeded, characters 0 to 20000 of 25000; continue with offset 20000\]$/,
    );
    const last = await use("read_tool_result", { resultId: "res_long", offset: 20_000 });
    assert.match(last.text, /^a{5000}\n\[run_shell succeeded, characters 20000 to 25000 of 25000\]$/);
    await assert.rejects(use("read_tool_result", { resultId: "res_long", limit: 20_001 }));
    assert.equal((await use("read_tool_result", { resultId: "res_x" })).isError, true);
  });

  it("list_evidence lists id, page address and time, newest first, one per line", async () => {
    const picture = {
      sessionId: "ses_t",
      runId,
      kind: "screenshot" as const,
      title: "Checkout",
      url: "https://shop.example/",
      mediaType: "image/png",
      bytes: new Uint8Array(3),
    };
    const pointer = await evidence.save(picture);
    const listed = await json("list_evidence", {});
    assert.equal(listed.total, 1);
    assert.equal(listed.evidence[0].id, pointer.id);
    assert.equal(listed.evidence[0].url, "https://shop.example/");
    assert.ok(Date.parse(listed.evidence[0].createdAt) > 0);
    const newer = await evidence.save({ ...picture, title: "Cart" });
    const { text } = await use("list_evidence", {});
    assert.deepEqual(
      text.split("\n").flatMap((line) => line.match(/"id":"(\w+)"/)?.[1] ?? []),
      [newer.id, pointer.id],
    );
    const newest = await evidence.listNewest("ses_t", 1);
    assert.deepEqual([newest.total, newest.evidence.map(({ id }) => id)], [2, [newer.id]]);
  });

  it("all tools are read-only and idempotent", () => {
    assert.ok(tools.every((tool) => tool.readOnly && tool.idempotent && tool.needs === undefined));
  });
});
