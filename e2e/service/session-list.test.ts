import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { sessions } from "#db/schema/index.ts";
import { OTHER_KEY, openTestService, type TestService } from "./testing.ts";

type Page = { data: { id: string; title: string; state: string }[]; nextCursor: string | null };

let service: TestService;
before(async () => {
  service = await openTestService();
});
after(() => service.close());
beforeEach(async () => {
  await service.container.services.db.delete(sessions);
});

const other = { authorization: `Bearer ${OTHER_KEY}` };
const list = (query: string) => service.read<Page>(`/api/sessions${query}`);
const titlesOf = async (query: string) => (await list(query)).data.map(({ title }) => title);
const search = (text: string, more = "") => titlesOf(`?q=${encodeURIComponent(text)}${more}`);

/** Creates a session, and waits until its turn has ended. */
async function open(text: string, more: Record<string, unknown> = {}): Promise<string> {
  service.model.respondWith(() => ({ text: "Done." }));
  const { sessionId, statusUrl } = await service.create(text, { capabilities: { browser: false }, ...more });
  await service.completed(statusUrl);
  return sessionId;
}

/** Inserts copies of a session that are a second apart and older than it. */
async function copy(sessionId: string, count: number, fields: Record<string, unknown> = {}): Promise<void> {
  const { db } = service.container.services;
  const [row] = (await db.select().from(sessions)).filter(({ id }) => id === sessionId);
  assert.ok(row);
  const copies = Array.from({ length: count }, (_, index) => ({
    ...row,
    ...fields,
    id: `ses_copy${index}`,
    createdAt: new Date(row.createdAt.getTime() - (index + 1) * 1_000),
  }));
  for (let at = 0; at < copies.length; at += 500)
    await db.insert(sessions).values(copies.slice(at, at + 500));
}

describe("the search of the session list", () => {
  it("finds words of the title, of the whole task and of the URL, in any case and order", async () => {
    await open("Look at the shop\n\nThe second line names a Zebra.", {
      targetUrl: "https://shop.example/checkout",
    });
    await open("Another task");
    const found = ["Look at the shop"];
    assert.deepEqual(await search("SHOP"), found);
    assert.deepEqual(await search("zebra"), found);
    assert.deepEqual(await search("checkout look"), found);
    assert.deepEqual(await search("eck"), found, "a part of a word");
    assert.deepEqual(await search("zebra another"), []);
    assert.deepEqual(await search("a"), ["Another task", "Look at the shop"]);
  });

  it("takes every character literally", async () => {
    await open("100% of a_b \\ 'quoted'");
    await open("1000 of axb");
    for (const text of ["100%", "a_b", "\\", "'quoted'", "%", "_"])
      assert.deepEqual(await search(text), ["100% of a_b \\ 'quoted'"], text);
  });

  it("never shows sessions of other owners, and no sub-agents", async () => {
    const id = await open("secret plan");
    const { db } = service.container.services;
    const [row] = await db.select().from(sessions);
    assert.ok(row);
    await db.insert(sessions).values({ ...row, id: "ses_child", parentSessionId: id });
    assert.deepEqual(await search("secret"), ["secret plan"]);
    for (const query of ["?q=secret", "?state=done", "?q=secret&state=done", ""]) {
      const answer = await service.call("GET", `/api/sessions${query}`, undefined, other);
      assert.deepEqual(await answer.json(), { success: true, data: [], nextCursor: null }, query);
    }
  });

  it("finds the new title of a renamed session", async () => {
    const id = await open("before");
    const answer = await service.call("PATCH", `/api/sessions/${id}`, { title: "Afterwards" });
    assert.equal(answer.status, 200);
    assert.deepEqual(await search("afterwards"), ["Afterwards"]);
    assert.deepEqual(await search("before"), ["Afterwards"], "the task does not change");
    const foreign = await service.call("PATCH", `/api/sessions/${id}`, { title: "x" }, other);
    assert.equal(foreign.status, 404);
    for (const title of ["", "   ", "two\nlines", "x".repeat(201), 7])
      assert.equal((await service.call("PATCH", `/api/sessions/${id}`, { title })).status, 400);
  });

  it("refuses values that it cannot use, and names the field", async () => {
    for (const [query, field] of [
      ["?q=", "q"],
      [`?q=${"x".repeat(201)}`, "q"],
      ["?state=", "state"],
      ["?state=busy", "state"],
      ["?q=a&cursor=nonsense", "cursor"],
    ] as const) {
      const answer = await service.call("GET", `/api/sessions${query}`);
      const { error } = (await answer.json()) as { error: string };
      assert.deepEqual([answer.status, error.split(":")[0]], [400, field], query);
    }
  });
});

describe("the filter by state", () => {
  it("shows only sessions in one of the states", async () => {
    await open("is done");
    service.model.respondWith(() => ({ text: "Never.", hold: new Promise(() => {}) }));
    const { sessionId } = await service.create("still works");
    assert.deepEqual(await titlesOf("?state=done"), ["is done"]);
    assert.deepEqual(await titlesOf("?state=working,starting"), ["still works"]);
    assert.deepEqual(await titlesOf("?state=done,working,starting"), ["still works", "is done"]);
    assert.deepEqual(await titlesOf("?q=works&state=done"), []);
    await service.call("DELETE", `/api/sessions/${sessionId}`);
  });
});

describe("pages of a search", () => {
  it("neither repeat nor omit a session when sessions are added and deleted in between", async () => {
    const newest = await open("copy of it");
    await copy(newest, 9);
    const seen: string[] = [];
    let cursor: string | null = "";
    for (let round = 0; cursor !== null; round += 1) {
      const page: Page = await list(`?q=copy&state=done,ready&limit=3${cursor && `&cursor=${cursor}`}`);
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
      await open("another copy");
      if (round === 0) await service.call("DELETE", `/api/sessions/${seen[2]}`);
    }
    assert.deepEqual(seen, [newest, ...Array.from({ length: 9 }, (_, index) => `ses_copy${index}`)]);
  });

  it("examine a bounded number of sessions for one call, and continue after it", async () => {
    const newest = await open("needle");
    await copy(newest, 2_500, { title: "hay", task: "hay" });
    const { db } = service.container.services;
    const [row] = await db.select().from(sessions);
    assert.ok(row);
    const oldest = new Date(Date.parse("2020-01-01"));
    await db.insert(sessions).values({ ...row, id: "ses_oldest", title: "old needle", createdAt: oldest });
    const first = await list("?q=needle");
    assert.deepEqual(
      first.data.map(({ id }) => id),
      [newest],
    );
    assert.ok(first.nextCursor, "older sessions have not been examined");
    const second = await list(`?q=needle&cursor=${first.nextCursor}`);
    assert.deepEqual([second.data.map(({ id }) => id), second.nextCursor], [["ses_oldest"], null]);
    assert.deepEqual(await search("needle", "&limit=1"), ["needle"]);
  });
});
