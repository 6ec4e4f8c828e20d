import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { inboxItems } from "#db/schema/index.ts";
import { type Receiver, startReceiver } from "#e2e/fixtures/receiver.ts";
import { createAnswerLinks } from "#lib/session/inbox/answer-link.ts";
import { scriptByTask } from "../agents/agents-testing.ts";
import { openTestService, signIn, TEST_KEY, type TestService, waitUntil } from "../testing.ts";
import { readEvents } from "../turn/turn-testing.ts";
import { onlyItem, settle, untilTurnParked } from "./inbox-testing.ts";
import { ask, readResults, startParked } from "./waiting-testing.ts";

let service: TestService;
let receiver: Receiver;
before(async () => {
  service = await openTestService({ SANDBOX: "unconfined", RATE_LIMIT_FAILED_AUTH: "0" });
  receiver = await startReceiver();
});
after(async () => {
  await service.close();
  await receiver.close();
});

/** Requests the page of a link, without any other credential. */
async function visit(link: string, sent?: Record<string, string | string[]>, method = sent ? "POST" : "GET") {
  const init: RequestInit = { method };
  if (sent) {
    const pairs = Object.entries(sent).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, value]),
    );
    init.body = new URLSearchParams(pairs);
  }
  const response = await service.container.mounted.serveAnswerPage(new Request(link, init));
  return { status: response.status, headers: response.headers, html: await response.text() };
}

/** Starts a session whose turn waits. @returns the link to its only item, as the owner's key reads it. */
async function startLinked(...questions: Parameters<typeof startParked>[1] & {}) {
  const session = await startParked(service, questions.length > 0 ? questions : undefined);
  const item = await onlyItem(service, session);
  assert.ok(item.answerUrl);
  return { session, id: item.id, link: item.answerUrl };
}

const readState = async (id: string) => {
  const [row] = await service.container.services.db.select().from(inboxItems).where(eq(inboxItems.id, id));
  return (
    row && { state: row.state, settledBy: row.settledBy, reason: row.reason, forSession: row.forSession }
  );
};

describe("an answer link", () => {
  it("shows the question and changes nothing, however often and however it is loaded", async () => {
    const { id, link } = await startLinked(ask("Which <b>colour</b>?", { options: ["red", '"blue"'] }));
    for (const method of ["GET", "HEAD", "GET"]) {
      const { status, headers, html } = await visit(link, undefined, method);
      assert.equal(status, 200);
      assert.equal(headers.get("cache-control"), "no-store");
      assert.equal(headers.get("referrer-policy"), "no-referrer");
      assert.equal(headers.get("x-robots-tag"), "noindex, nofollow");
      assert.match(
        headers.get("content-security-policy") ?? "",
        /^default-src 'none'; style-src 'sha256-[\w+/]+=*'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
      );
      if (method === "HEAD") continue;
      assert.ok(html.includes("Which &lt;b&gt;colour&lt;/b&gt;?") && html.includes("&quot;blue&quot;"));
      assert.ok(!html.includes("<b>") && !html.includes("<script"));
    }
    const prefetch = new Request(link, { headers: { "sec-purpose": "prefetch", purpose: "prefetch" } });
    assert.equal((await service.container.mounted.serveAnswerPage(prefetch)).status, 200);
    assert.deepEqual((await readState(id))?.state, "open");
  });

  it("answers once; the second answer is a 409, and the page then says how it was settled", async () => {
    const { session, id, link } = await startLinked(ask("Which colour?", { options: ["red", "blue"] }));
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => visit(link, { do: "answer", option: "red", text: `${index}` })),
    );
    const statuses = answers.map(({ status }) => status).toSorted();
    assert.deepEqual(statuses, [200, 409, 409, 409, 409, 409]);
    await service.completed(session.turn.statusUrl);
    const winner = answers.findIndex(({ status }) => status === 200);
    assert.deepEqual(await readResults(service, session), [`The person answered: ${winner}`]);
    assert.deepEqual(
      [(await readState(id))?.state, (await readState(id))?.settledBy],
      ["answered", "person"],
    );
    const late = await visit(link);
    assert.equal(late.status, 410);
    assert.match(late.html, /This question has been answered/);
  });

  it("takes a choice, and declines", async () => {
    const chosen = await startLinked(ask("Which colour?", { options: ["red", "blue"] }));
    assert.equal((await visit(chosen.link, { do: "answer", option: "blue", text: " " })).status, 200);
    await service.completed(chosen.session.turn.statusUrl);
    assert.deepEqual(await readResults(service, chosen.session), ["The person answered: blue"]);
    const declined = await startLinked();
    assert.equal((await visit(declined.link, { do: "answer", text: "" })).status, 422);
    assert.equal((await visit(declined.link, { text: "no button" })).status, 422);
    assert.equal((await visit(declined.link, { do: "decline" })).status, 200);
    assert.equal((await readState(declined.id))?.state, "declined");
  });

  it("takes a form, keeps what was typed, and names an invalid field", async () => {
    const form = {
      properties: {
        size: { type: "string", enum: ["S", "M"], title: "Size" },
        count: { type: "integer", minimum: 1 },
        gift: { type: "boolean" },
        extras: { type: "array", items: { enum: ["bow", "card"] } },
        mail: { type: "string", format: "email" },
      },
      required: ["size", "count"],
    };
    const { session, link } = await startLinked(ask("Which size?", { form }));
    const shown = await visit(link);
    for (const name of Object.keys(form.properties))
      assert.ok(shown.html.includes(`name="field.${name}"`), name);
    const wrong = { do: "answer", "field.size": "M", "field.count": "many", "field.mail": '"ada' };
    const refused = await visit(link, wrong);
    assert.equal(refused.status, 422);
    assert.match(refused.html, /role="alert"/);
    assert.match(refused.html, /count must be a number\./);
    assert.match(refused.html, /mail must be an email address\./);
    assert.ok(refused.html.includes('value="&quot;ada"') && refused.html.includes('value="M" selected'));
    const right = { ...wrong, "field.count": "2", "field.mail": "", "field.extras": ["bow", "card"] };
    assert.equal((await visit(link, right)).status, 200);
    await service.completed(session.turn.statusUrl);
    const [result] = await readResults(service, session);
    assert.match(result ?? "", /"size":"M","count":2,"gift":false,"extras":\["bow","card"\]/);
  });

  it("takes lines as they were typed, and counts each end of a line once", async () => {
    const form = { properties: { note: { type: "string" } }, required: ["note"] };
    const { session, link } = await startLinked(ask("Which note?", { form }));
    // As a browser encodes a text of two lines.
    assert.equal((await visit(link, { do: "answer", "field.note": "one\r\ntwo" })).status, 200);
    await service.completed(session.turn.statusUrl);
    const [result] = await readResults(service, session);
    assert.match(result ?? "", /"note":"one\\ntwo"/);
    const text = await startLinked();
    const long = `${"x".repeat(99_000)}${"\r\n".repeat(900)}y\u0000`;
    assert.equal((await visit(text.link, { do: "answer", text: long })).status, 200);
  });

  it("approves or denies a call that it shows exactly, and only this call", async () => {
    const write = { name: "write_file", arguments: { path: "a.txt", content: "<i>\u202Eevil</i>" } };

    scriptByTask(service, { "write it": [{ toolCalls: [write] }], "write again": [{ toolCalls: [write] }] });
    const start = async (text: string) => {
      const session = await service.create(text, {
        capabilities: { browser: false },
        interaction: { mode: "ask" },
        tools: { approve: ["write_file"] },
      });
      await untilTurnParked(service, session);
      const item = await onlyItem(service, session);
      return { session, id: item.id, link: item.answerUrl ?? "" };
    };
    const approved = await start("write it");
    const { html } = await visit(approved.link);
    assert.ok(html.includes("&lt;i&gt;\\u202eevil&lt;/i&gt;"), "hidden characters are visible");
    assert.equal((await visit(approved.link, { do: "answer", text: "yes" })).status, 422);
    assert.equal((await visit(approved.link, { do: "approve", forSession: "true" })).status, 200);
    assert.deepEqual(await readState(approved.id), {
      state: "approved",
      settledBy: "person",
      reason: null,
      forSession: false,
    });
    const denied = await start("write again");
    assert.equal((await visit(denied.link, { do: "deny", reason: "x".repeat(2_001) })).status, 422);
    assert.equal((await visit(denied.link, { do: "deny", reason: "not today" })).status, 200);
    assert.deepEqual(
      [(await readState(denied.id))?.state, (await readState(denied.id))?.reason],
      ["denied", "not today"],
    );
    await service.completed(denied.session.statusUrl);
  });

  it("is refused with another item, a changed or missing token, another key, and after a change of the key", async () => {
    const one = await startLinked();
    const two = await startLinked();
    const token = new URL(one.link).searchParams.get("key") ?? "";
    const of = (id: string, key: string | undefined) =>
      `${service.env.baseUrl}/answer/${id}${key === undefined ? "" : `?key=${key}`}`;
    const flipped = `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`;
    const wrong = [
      of(two.id, token),
      of(one.id, flipped),
      of(one.id, ""),
      of(one.id, undefined),
      of(one.id, `${token}A`),
      of(one.id, token.slice(0, 31)),
      of("itm_aaaaaaaaaaaaaaaaaaaaaaaa", token),
      of("", token),
      of(`${one.id}/x`, token),
    ];
    for (const link of wrong)
      for (const sent of [undefined, { do: "decline" }])
        assert.equal((await visit(link, sent)).status, 404, link);
    assert.deepEqual([(await readState(one.id))?.state, (await readState(two.id))?.state], ["open", "open"]);
    assert.equal((await visit(one.link, {}, "PUT")).status, 405);

    const [old, fresh] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    const item = { id: one.id, kind: "question" } as const;
    const url = createAnswerLinks("https://s.example", old).urlOf(item) ?? "";
    const key = new URL(url).searchParams.get("key") ?? "";
    assert.equal(createAnswerLinks("", old).isValid(one.id, key), true);
    assert.equal(createAnswerLinks("", fresh, [old]).isValid(one.id, key), true);
    assert.equal(createAnswerLinks("", fresh).isValid(one.id, key), false);
    for (const kind of ["budget", "plan"] as const)
      assert.equal(createAnswerLinks("", old).urlOf({ id: one.id, kind }), undefined);
  });

  it("ends at the deadline, with a stop, and with the session", async () => {
    const expired = await startLinked();
    const past = new Date(Date.now() - 1_000);
    await service.container.services.db
      .update(inboxItems)
      .set({ expiresAt: past })
      .where(eq(inboxItems.id, expired.id));
    for (const sent of [undefined, { do: "decline" }]) {
      const { status, html } = await visit(expired.link, sent);
      assert.deepEqual([status, html.includes("This link has expired")], [410, true]);
    }
    const stopped = await startLinked();
    await service.call("POST", `/api/sessions/${stopped.session.sessionId}/agent/cancel`, {});
    assert.equal((await visit(stopped.link, { do: "decline" })).status, 410);
    const deleted = await startLinked();
    await service.call("DELETE", `/api/sessions/${deleted.session.sessionId}`);
    for (const sent of [undefined, { do: "decline" }])
      assert.equal((await visit(deleted.link, sent)).status, 404);
  });

  it("refuses a body that is too large", async () => {
    const { id, link } = await startLinked();
    const large = await visit(link, { do: "answer", text: "é".repeat(200_000) });
    assert.equal(large.status, 413);
    const long = await visit(link, { do: "answer", text: "x".repeat(100_001) });
    assert.equal(long.status, 422);
    assert.equal((await readState(id))?.state, "open");
  });
});

describe("where a link stands", () => {
  it("in the callback's item and in reads with a key that may settle, and nowhere else", async () => {
    scriptByTask(service, { "ask and link": [{ toolCalls: [ask("Which colour?")] }] });
    const session = await service.create("ask and link", {
      capabilities: { browser: false },
      interaction: { mode: "ask" },
      callback: { url: receiver.url, events: ["run.waiting", "run.resumed"] },
    });
    await waitUntil(() => receiver.received.length === 1, "the callback has arrived");
    const sent = receiver.received[0]?.body.toString() ?? "";
    const body = JSON.parse(sent) as { item: { id: string; answerUrl?: string }; data: unknown };
    const { id, answerUrl } = await onlyItem(service, session);
    assert.ok(answerUrl);
    assert.deepEqual([body.item.id, body.item.answerUrl], [id, answerUrl]);
    const token = new URL(answerUrl).searchParams.get("key") ?? "";
    assert.equal(sent.split(token).length, 2, "once in the body");
    assert.ok(!JSON.stringify(body.data).includes(token));
    const all = await service.read<{ data: { answerUrl?: string }[] }>(
      `/api/inbox?sessionId=${session.sessionId}`,
    );
    assert.equal(all.data[0]?.answerUrl, answerUrl);

    const api = `/api/sessions/${session.sessionId}`;
    const entered = await service.container.exchangeLinkForCookie({
      method: "GET",
      url: new URL(session.shareUrl, service.env.baseUrl),
      cookieHeader: null,
    });
    assert.ok(entered instanceof Response);
    const operator = { cookie: await signIn(service), origin: service.env.baseUrl, authorization: "" };
    const wanted = { ownerId: "owner", name: "reads only", scopes: ["sessions:read"] };
    const created = await service.call("POST", "/actions/keys", wanted, operator);
    const { key } = (await created.json()) as { key: string };
    const { origin } = operator;
    const signedIn = await service.container.mounted.logIn(
      new Request(`${origin}/login`, {
        method: "POST",
        headers: { origin, "content-type": "application/json" },
        body: JSON.stringify({ apiKey: TEST_KEY }),
      }),
    );
    const loginCookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const person = { cookie: loginCookie, origin, authorization: "" };
    const reader = { authorization: `Bearer ${key}` };
    const cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? "";
    const visitor = { cookie, origin: service.env.baseUrl, authorization: "" };

    const readText = async (path: string, headers?: Record<string, string>) => {
      const response = await service.call("GET", path, undefined, headers);
      assert.equal(response.status, 200, path);
      return response.text();
    };
    const texts = [
      JSON.stringify(await readEvents(service, session.sessionId)),
      await readText(`${api}/inbox`, visitor),
      await readText(`/s/${session.sessionId}/actions/inbox`, visitor),
      await readText(`${api}/inbox`, reader),
      await readText("/api/inbox", reader),
      await readText("/actions/inbox", person),
      await readText(`${api}/deliveries`),
      await readText(`${api}/export?format=json`),
      await readText(`${api}/export?format=html`),
      await readText(`${api}/agent/status`),
      JSON.stringify(service.model.requests.map((request) => request.body)),
    ];
    assert.ok(texts[5]?.includes(id), "the person sees the item");
    for (const [index, text] of texts.entries())
      assert.ok(!text.includes(token) && !text.includes("/answer/itm_"), `text ${index} has the link`);
    const rows = await service.container.services.db.execute(
      `select body from deliveries where session_id = '${session.sessionId}'`,
    );
    assert.ok(!JSON.stringify(rows).includes(token), "the database does not contain the link");

    const settled = await settle(service, session, id, { answer: "red" });
    assert.ok(!("answerUrl" in (settled.item ?? {})));
    assert.ok(!("answerUrl" in (await onlyItem(service, session))));
    await waitUntil(() => receiver.received.length === 2, "the second callback has arrived");
    assert.ok(!receiver.received[1]?.body.toString().includes("/answer/"));
  });
});
