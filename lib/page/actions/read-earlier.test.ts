import assert from "node:assert/strict";
import { test } from "node:test";
import { message } from "../state/testing.ts";
import { readEarlier } from "./read-earlier.ts";

/** Creates a fake `fetch` that lists messages with these sequence numbers and records the query of each request. */
function listOf(seqs: number[]) {
  const queries: string[] = [];
  const fetcher: typeof fetch = async (input) => {
    const url = new URL(String(input), "http://service");
    queries.push(url.search);
    const [limit, cursor] = ["limit", "cursor"].map((name) => Number(url.searchParams.get(name)));
    const later = seqs.filter((seq) => seq > (cursor ?? 0));
    const data = later.slice(0, limit).map((seq) => message(`msg_${seq}`, seq, "user", "x"));
    const nextCursor = later.length > data.length ? String(data.at(-1)?.seq) : null;
    return Response.json({ success: true, data, nextCursor });
  };
  return { fetcher, queries };
}

const read = async (seqs: number[], before: number) => {
  const { fetcher, queries } = listOf(seqs);
  const outcome = await readEarlier("/messages", before, fetcher);
  assert.ok(outcome.isDone);
  return {
    seqs: outcome.answer.messages.map(({ seq }) => seq),
    hasEarlier: outcome.answer.hasEarlier,
    queries,
  };
};

test("the messages directly before a message are read, and whether there are more", async () => {
  const every = Array.from({ length: 1_000 }, (_, index) => index + 1);
  const { seqs, hasEarlier } = await read(every, 801);
  assert.deepEqual([seqs[0], seqs.at(-1), seqs.length, hasEarlier], [401, 800, 400, true]);
  const first = await read(every, 101);
  assert.deepEqual([first.seqs[0], first.seqs.at(-1), first.hasEarlier], [1, 100, false]);
});

test("the window widens over gaps in the numbers until it has messages", async () => {
  const { seqs, hasEarlier, queries } = await read([5, 5_000], 5_000);
  assert.deepEqual([seqs, hasEarlier], [[5], false]);
  assert.equal(queries.length, 3);
});

test("a refusal of the service becomes a sentence", async () => {
  const outcome = await readEarlier("/messages", 10, async () =>
    Response.json({ success: false, error: "no such session" }, { status: 404 }),
  );
  assert.deepEqual(outcome, { isDone: false, status: 404, error: "no such session" });
});
