import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { inboxItems } from "#db/schema/index.ts";
import { endOverdueWaits } from "#lib/session/waiting/waiting.ts";
import { plan, sayGo, setMode, todo } from "../planning/planning-testing.ts";
import { OTHER_KEY, openTestService, type TestService } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { playTurn } from "../variants/variants-testing.ts";
import { listItems, onlyItem, settle } from "./inbox-testing.ts";
import {
  answer,
  ask,
  checkWakes,
  readResults,
  sayAsPerson,
  script,
  startParked,
  untilParked,
} from "./waiting-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ SANDBOX: "unconfined" });
});
after(() => service.close());

const shell = (command: string) => ({ name: "run_shell", arguments: { command } });

/** Opens a share link. @returns the headers of the visitor's requests. */
const visit = async (shareUrl: string) => {
  const entered = await service.container.exchangeLinkForCookie({
    method: "GET",
    url: new URL(shareUrl, service.env.baseUrl),
    cookieHeader: null,
  });
  assert.ok(entered instanceof Response);
  const cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? "";
  return { cookie, origin: service.env.baseUrl, authorization: "" };
};

describe("a question in the inbox", () => {
  it("is listed while it waits, is answered there, and tells who answered", async () => {
    const options = ["red", "blue"];
    const session = await startParked(service, [ask("Which\n colour?", { options })]);
    const { id, createdAt, expiresAt, answerUrl, ...item } = await onlyItem(service, session);
    assert.match(id, /^itm_[a-z2-7]{24}$/);
    assert.match(answerUrl ?? "", new RegExp(`/answer/${id}\\?key=[\\w-]{32}$`));
    assert.deepEqual(item, {
      sessionId: session.sessionId,
      runId: session.turn.runId,
      kind: "question",
      title: "Which colour?",
      body: "Which\n colour?",
      options,
      state: "open",
    });
    assert.equal(Math.round((Date.parse(expiresAt ?? "") - Date.parse(createdAt)) / 1_000), 86_400);
    const { data } = await service.read<{ data: unknown[] }>(`/api/inbox?sessionId=${session.sessionId}`);
    assert.deepEqual(data, await listItems(service, session));

    const settled = await settle(service, session, id, { answer: "blue" });
    assert.deepEqual(
      [settled.status, settled.item?.state, settled.item?.settledBy],
      [200, "answered", "program"],
    );
    await service.completed(session.turn.statusUrl);
    assert.deepEqual(await readResults(service, session), ["The person answered: blue"]);
    await checkWakes(service, session);
    assert.deepEqual(await onlyItem(service, session), settled.item);
    assert.deepEqual(await listItems(service, session, "?state=open"), []);

    const again = await settle(service, session, id, { decline: true });
    assert.deepEqual([again.status, again.state], [409, "answered"]);
    assert.equal(again.error, "this item is not open any more: answered");
    assert.equal(await answer(service, session, session.ids[0], "red"), 409);
  });

  it("has a form, keeps open for an invalid value that it names, and can be declined", async () => {
    const form = { properties: { size: { type: "string", enum: ["S", "M"] } }, required: ["size"] };
    const session = await startParked(service, [ask("Which size?", { form })]);
    const { id, form: shown } = await onlyItem(service, session);
    assert.deepEqual(shown?.properties, form.properties);
    const invalid = await settle(service, session, id, { answer: { size: "XXL" } });
    assert.deepEqual([invalid.status, invalid.error?.split(":")[0]], [400, "answer.size"]);
    const odd = await settle(service, session, id, { approve: true });
    assert.equal(odd.status, 400);
    assert.equal((await onlyItem(service, session)).state, "open");
    const declined = await settle(service, session, id, { decline: true });
    assert.deepEqual([declined.status, declined.item?.state], [200, "declined"]);
    await service.completed(session.turn.statusUrl);
    assert.match((await readResults(service, session))[0] ?? "", /^The person declined to answer/);
  });

  it("is the same item for its own endpoint, which wins if it is first", async () => {
    const session = await startParked(service);
    const { id } = await onlyItem(service, session);
    assert.equal(await answer(service, session, session.ids[0], null), 202);
    const { state, settledBy } = await onlyItem(service, session);
    assert.deepEqual([state, settledBy], ["declined", "program"]);
    const late = await settle(service, session, id, { answer: "red" });
    assert.deepEqual([late.status, late.state], [409, "declined"]);
  });

  it("has exactly one winner among twelve answers at once", async () => {
    const session = await startParked(service);
    const { id } = await onlyItem(service, session);
    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, index) =>
        index % 2 === 0
          ? (await settle(service, session, id, { answer: `inbox ${index}` })).status
          : answer(service, session, session.ids[0], `question ${index}`),
      ),
    );
    assert.equal(answers.filter((status) => status === 200 || status === 202).length, 1, String(answers));
    assert.equal(answers.filter((status) => status === 409).length, 11, String(answers));
    await service.completed(session.turn.statusUrl);
    const winner = answers.findIndex((status) => status !== 409);
    const said = winner % 2 === 0 ? `inbox ${winner}` : `question ${winner}`;
    assert.deepEqual(await readResults(service, session), [`The person answered: ${said}`]);
    const { wakes } = await checkWakes(service, session);
    assert.deepEqual(wakes, ["settled"]);
  });

  it("is expired after its deadline, before and after the sweep", async () => {
    const session = await startParked(service, [ask("Soon?", { timeoutSeconds: 10 })]);
    const { id } = await onlyItem(service, session);
    const { db } = service.container.services;
    const past = new Date(Date.now() - 1_000);
    await db.update(inboxItems).set({ expiresAt: past }).where(eq(inboxItems.id, id));
    const before = await onlyItem(service, session, "?state=expired");
    assert.deepEqual([before.state, "settledAt" in before], ["expired", false]);
    assert.deepEqual(await listItems(service, session, "?state=open"), []);
    const late = await settle(service, session, id, { answer: "red" });
    assert.deepEqual([late.status, late.state], [409, "expired"]);
    await endOverdueWaits(service.container.services, new Date(Date.now() + 60_000));
    await service.completed(session.turn.statusUrl);
    const { state, settledAt, settledBy } = await onlyItem(service, session);
    assert.deepEqual([state, typeof settledAt, settledBy], ["expired", "string", undefined]);
  });

  for (const mode of ["steer", "interrupt", "stop"] as const)
    it(`is withdrawn by a ${mode}`, async () => {
      const session = await startParked(service);
      const { id } = await onlyItem(service, session);
      service.model.respondWith(() => ({ text: "Done." }));
      if (mode === "stop") await service.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`, {});
      else await sayAsPerson(service, session, { text: "go on", mode });
      await service.completed(session.turn.statusUrl);
      const item = await onlyItem(service, session);
      assert.deepEqual([item.id, item.state, item.settledBy], [id, "withdrawn", undefined]);
      const late = await settle(service, session, id, { answer: "red" });
      assert.deepEqual([late.status, late.state], [409, "withdrawn"]);
    });

  it("is deleted with its session", async () => {
    const session = await startParked(service);
    const { id } = await onlyItem(service, session);
    await service.call("DELETE", `/api/sessions/${session.sessionId}`);
    assert.equal((await settle(service, session, id, { answer: "red" })).status, 404);
    const { data } = await service.read<{ data: unknown[] }>(`/api/inbox?sessionId=${session.sessionId}`);
    assert.deepEqual(data, []);
    const rows = await service.container.services.db.select().from(inboxItems).where(eq(inboxItems.id, id));
    assert.deepEqual(rows, []);
  });
});

describe("who may use the inbox", () => {
  it("is the owner; a viewer reads and a driver settles as a person; other keys find nothing", async () => {
    const session = await startParked(service);
    const { id } = await onlyItem(service, session);
    const path = `/api/sessions/${session.sessionId}/inbox`;
    const other = { authorization: `Bearer ${OTHER_KEY}` };
    assert.equal((await service.call("GET", path, undefined, other)).status, 404);
    assert.equal((await settle(service, session, id, { answer: "red" }, other)).status, 404);
    const listed = await service.call("GET", `/api/inbox?sessionId=${session.sessionId}`, undefined, other);
    assert.deepEqual(((await listed.json()) as { data: unknown[] }).data, []);
    const bad = { authorization: "Bearer wrong" };
    assert.equal((await service.call("GET", "/api/inbox", undefined, bad)).status, 401);
    assert.equal((await settle(service, session, id, { answer: "red" }, bad)).status, 401);

    const link = await service.call("POST", `/api/sessions/${session.sessionId}/share-links`, {
      role: "view",
    });
    const viewer = await visit(((await link.json()) as { shareUrl: string }).shareUrl);
    const seen = await service.call("GET", path, undefined, viewer);
    assert.equal(((await seen.json()) as { data: { id: string }[] }).data[0]?.id, id);
    assert.equal((await settle(service, session, id, { answer: "red" }, viewer)).status, 403);
    assert.equal((await service.call("GET", "/api/inbox", undefined, viewer)).status, 401);
    const driver = await visit(session.shareUrl);
    const foreign = { ...driver, origin: "https://evil.example" };
    assert.equal((await settle(service, session, id, { answer: "red" }, foreign)).status, 403);
    const settled = await settle(service, session, id, { answer: "red" }, driver);
    assert.deepEqual([settled.status, settled.item?.settledBy], [200, "person"]);
  });

  it("answers 404 for an item of another session, and 400 for an unknown state", async () => {
    const [one, two] = [await startParked(service), await startParked(service)];
    const { id } = await onlyItem(service, two);
    const wrong = await settle(service, one, id, { answer: "red" });
    assert.deepEqual([wrong.status, wrong.error], [404, "no such item"]);
    assert.equal((await service.call("GET", "/api/inbox?state=lost")).status, 400);
    assert.equal((await onlyItem(service, two)).state, "open");
  });

  it("lists in pages, newest first, without repeating or skipping an item", async () => {
    const session = await startParked(service, [ask("One?"), ask("Two?"), ask("Three?")]);
    const titles: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = `?limit=1${cursor === null ? "" : `&cursor=${cursor}`}`;
      const page = await service.read<{ data: { title: string }[]; nextCursor: string | null }>(
        `/api/sessions/${session.sessionId}/inbox${query}`,
      );
      titles.push(...page.data.map(({ title }) => title));
      cursor = page.nextCursor;
    } while (cursor !== null);
    assert.deepEqual(titles.toSorted(), ["One?", "Three?", "Two?"]);
  });
});

describe("a budget and a plan in the inbox", () => {
  it("a budget is listed until it is raised, and is not settled here", async () => {
    const spend = { toolCalls: [shell("true")], usage: { inputTokens: 900, outputTokens: 100 } };
    script(service, [spend, spend]);
    const session = await service.create("go", {
      capabilities: { browser: false },
      budget: { tokens: 1_500 },
    });
    await untilParked(service, { ...session, turn: session });
    const item = await onlyItem(service, session, "?state=open");
    assert.deepEqual(
      [item.kind, item.title, item.body, item.runId],
      [
        "budget",
        "The budget is used up",
        "The session's budget of 1,500 tokens is used up (2,000 spent). The turn continues when the budget is raised.",
        session.runId,
      ],
    );
    const refused = await settle(service, session, item.id, { answer: "5000" });
    assert.equal(refused.status, 400);
    assert.equal(
      refused.error,
      "itemId: an item of the kind budget is only listed; raise the budget with PATCH …/budget",
    );
    const api = `/api/sessions/${session.sessionId}`;
    await service.call("PATCH", `${api}/budget`, { tokens: 1_600 });
    const renewed = await onlyItem(service, session);
    assert.deepEqual([renewed.id, renewed.body.includes("1,600 tokens")], [item.id, true]);
    await service.call("PATCH", `${api}/budget`, { tokens: 50_000 });
    await service.completed(session.statusUrl);
    assert.equal((await onlyItem(service, session)).state, "done");
    const late = await settle(service, session, item.id, { answer: "5000" });
    assert.deepEqual([late.status, late.state], [409, "done"]);
  });

  it("a plan is listed while it waits for agreement, follows its changes, and is approved by a person", async () => {
    const { session } = await playTurn(service, [plan([todo("Write the file")])]);
    assert.deepEqual(await listItems(service, session), [], "no person wants to agree");
    await setMode(service, session.sessionId, "plan_first");
    const item = await onlyItem(service, session);
    assert.deepEqual(
      [item.kind, item.title, item.body, item.state, item.expiresAt],
      ["plan", "The plan waits for agreement", "- p1 [todo] Write the file", "open", null],
    );
    const refused = await settle(service, session, item.id, { answer: "yes" });
    assert.deepEqual([refused.status, refused.error?.includes("on the session page")], [400, true]);
    await setMode(service, session.sessionId, "off");
    assert.equal((await onlyItem(service, session)).state, "withdrawn");
    await setMode(service, session.sessionId, "plan_first");
    const fresh = await onlyItem(service, session, "?state=open");
    assert.notEqual(fresh.id, item.id);
    assert.equal((await sayGo(service, session, 1, "")).status, 202);
    const agreed = await onlyItem(service, session, "?state=approved");
    assert.deepEqual([agreed.id, agreed.settledBy], [fresh.id, "person"]);
  });

  it("is named in the events of its session by `run.waiting` and `run.resumed` only", async () => {
    const session = await startParked(service);
    const { id } = await onlyItem(service, session);
    await settle(service, session, id, { answer: "red" });
    await service.completed(session.turn.statusUrl);
    const events = await readEvents(service, session.sessionId);
    const naming = events.filter((event) => JSON.stringify(event).includes(id));
    assert.deepEqual(
      naming.map(({ kind }) => kind),
      ["run.waiting", "run.resumed"],
    );
    assert.deepEqual(
      only(events, "elicitation.resolved").map(({ state }) => state),
      ["answered"],
    );
  });
});
