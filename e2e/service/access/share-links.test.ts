import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { eq } from "drizzle-orm";
import { WebSocket } from "ws";
import { shareTokens } from "#db/schema/index.ts";
import { connectClient } from "#lib/api/live/testing.ts";
import { findTestChromium } from "#lib/browser/testing.ts";
import { type HttpTestService, openHttpTestService } from "../http-testing.ts";
import { waitUntil } from "../testing.ts";

let service: HttpTestService;
let session: { sessionId: string; shareUrl: string };
before(async () => {
  service = await openHttpTestService({
    BROWSER_EXECUTABLE_PATH: findTestChromium().executablePath,
  });
  service.model.respondWith(() => ({ text: "A secret conversation." }));
  session = await create();
});
after(() => service.close());

type LinkRecord = { id: string; role: string; label: string | null; revokedAt: string | null };
type CreatedLink = { shareUrl: string; record: LinkRecord };

async function create() {
  const created = await service.create("Hello");
  await service.completed(created.statusUrl);
  return created;
}
const links = (sessionId = session.sessionId) => `/api/sessions/${sessionId}/share-links`;
async function createLink(body: Record<string, unknown>, sessionId?: string): Promise<CreatedLink> {
  const response = await service.call("POST", links(sessionId), body);
  assert.equal(response.status, 201, await response.clone().text());
  return (await response.json()) as CreatedLink;
}
const revokeAll = async (sessionId: string) =>
  (await (await service.call("POST", `${links(sessionId)}/revoke-all`)).json()) as {
    shareUrl: string;
    revoked: number;
  };

/** Opens a link in the way a browser does. @returns the cookie that authorizes the requests of the page. */
async function open(
  link: string,
): Promise<{ cookie: string; setCookies: string[]; location: string | null }> {
  const response = await fetch(new URL(link, service.baseUrl), { redirect: "manual" });
  assert.equal(response.status, 303);
  const setCookies = response.headers.getSetCookie();
  const cookie = setCookies[0]?.split(";")[0] ?? "";
  return { cookie, setCookies, location: response.headers.get("location") };
}
/** Sends a request in the way the session page does. */
const act = (cookie: string, method: string, path: string, body?: unknown, sessionId = session.sessionId) =>
  service.call(method, `/s/${sessionId}/actions${path}`, body, {
    authorization: "",
    cookie,
    origin: service.env.baseUrl,
  });
const pageOf = (cookie: string, sessionId = session.sessionId) =>
  service.container.mounted.loadSessionPage(sessionId, cookie);
const connect = (cookie: string, sessionId = session.sessionId, query = "") =>
  connectClient(
    new WebSocket(`${service.baseUrl.replace("http", "ws")}/api/sessions/${sessionId}/live${query}`, {
      headers: { cookie, origin: service.env.baseUrl },
    }),
  );

describe("a share link", () => {
  test("has a role, a label and an expiry; only the first answer shows its secret, which is stored as a hash", async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { shareUrl, record } = await createLink({ role: "comment", label: "Design review", expiresAt });
    const secret = new URL(shareUrl, service.baseUrl).searchParams.get("key") ?? "";
    assert.ok(Buffer.from(secret, "base64url").length >= 16);
    const listed = await service.read<{ data: LinkRecord[] }>(links());
    assert.deepEqual(listed.data[0], record);
    assert.deepEqual(
      { ...record, id: "", createdAt: "" },
      {
        ...{ id: "", role: "comment", label: "Design review", createdAt: "", expiresAt, revokedAt: null },
        embedOrigins: null,
      },
    );
    const rows = await service.container.services.db.select().from(shareTokens);
    for (const text of [JSON.stringify(listed), JSON.stringify(rows)]) assert.ok(!text.includes(secret));
    assert.notEqual((await createLink({ role: "comment" })).shareUrl, shareUrl);
    const { setCookies } = await open(shareUrl);
    const maxAge = Number(/Max-Age=(\d+)/.exec(setCookies[0] ?? "")?.[1]);
    assert.ok(maxAge > 0 && maxAge <= 3_600, "the cookie ends with the link");
  });

  test("is not created with a wrong role, an empty label, a past or malformed expiry, or an unknown field", async () => {
    const wrong: [unknown, RegExp][] = [
      [{ role: "own" }, /^role: /],
      [{}, /^role: /],
      [{ role: "view", label: "" }, /^label: must not be empty/],
      [{ role: "view", label: "x".repeat(101) }, /^label: must be at most 100/],
      [{ role: "view", expiresAt: "2020-01-01T00:00:00Z" }, /^expiresAt: must be in the future/],
      [{ role: "view", expiresAt: "tomorrow" }, /^expiresAt: must be an ISO 8601/],
      [{ role: "view", secret: "x" }, /secret/],
    ];
    for (const [body, sentence] of wrong) {
      const response = await service.call("POST", links(), body);
      assert.equal(response.status, 400);
      assert.match((await response.json()).error, sentence);
    }
  });

  test("is listed page by page, newest first", async () => {
    const { sessionId } = await create();
    const labels = ["first", "second", "third"];
    for (const label of labels) await createLink({ role: "view", label }, sessionId);
    const seen: (string | null)[] = [];
    let cursor = "";
    do {
      const page = await service.read<{ data: LinkRecord[]; nextCursor: string | null }>(
        `${links(sessionId)}?limit=1${cursor && `&cursor=${cursor}`}`,
      );
      seen.push(...page.data.map(({ label }) => label));
      cursor = page.nextCursor ?? "";
    } while (cursor !== "");
    assert.deepEqual(seen, labels.toReversed());
    assert.equal((await service.call("GET", `${links(sessionId)}?cursor=lnk_none`)).status, 400);
  });

  test("that is revoked ends its own cookie and open sockets, but not those of other links", async () => {
    const [ended, other] = [await createLink({ role: "drive" }), await createLink({ role: "view" })];
    const [endedCookie, otherCookie] = [
      (await open(ended.shareUrl)).cookie,
      (await open(other.shareUrl)).cookie,
    ];
    const [socket, otherSocket] = [connect(endedCookie), connect(otherCookie)];
    await Promise.all([socket.ready(), otherSocket.ready()]);
    assert.equal((await act(endedCookie, "POST", "/messages", { text: "Hi" })).status, 202);

    const revoked = await service.call("DELETE", `${links()}/${ended.record.id}`);
    const { record } = (await revoked.json()) as { record: LinkRecord };
    assert.ok(record.revokedAt);
    assert.deepEqual(await socket.ended(), { code: 4001, reason: "the share link was revoked" });
    assert.equal((await act(endedCookie, "POST", "/messages", { text: "Hi" })).status, 404);
    assert.equal(await pageOf(endedCookie), undefined);
    const late = await connect(endedCookie).ended();
    assert.ok(late && "status" in late && late.status === 401);
    assert.deepEqual((await open(ended.shareUrl)).setCookies, []);

    await otherSocket.settle();
    assert.ok(await pageOf(otherCookie));
    otherSocket.socket.close();
    const again = await service.call("DELETE", `${links()}/${ended.record.id}`);
    assert.deepEqual((await again.json()).record, record);
    assert.equal((await service.call("DELETE", `${links()}/lnk_none`)).status, 404);
  });

  test("that has expired opens nothing, nor does its cookie", async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { shareUrl, record } = await createLink({ role: "drive", expiresAt });
    const { cookie } = await open(shareUrl);
    assert.equal((await act(cookie, "GET", "/queue")).status, 200);
    const { db } = service.container.services;
    await db
      .update(shareTokens)
      .set({ expiresAt: new Date(0) })
      .where(eq(shareTokens.id, record.id));
    assert.equal((await act(cookie, "GET", "/queue")).status, 404);
    assert.deepEqual((await open(shareUrl)).setCookies, []);
  });

  test("cannot manage links, and its page shows no link to share", async () => {
    const { cookie } = await open((await createLink({ role: "drive" })).shareUrl);
    const own = (await open(session.shareUrl)).cookie;
    for (const [method, path, body] of [
      ["GET", "/share-links", undefined],
      ["POST", "/share-links", { role: "drive" }],
      ["POST", "/share-links/revoke-all", undefined],
      ["DELETE", "/share-links/lnk_none", undefined],
    ] as const)
      assert.equal((await act(cookie, method, path, body)).status, 403, `${method} ${path}`);
    assert.equal((await pageOf(cookie))?.hasOwnLink, false);
    assert.equal((await pageOf(own))?.hasOwnLink, true);
    assert.equal((await (await act(own, "GET", "/share-links")).json()).shareUrl, session.shareUrl);
  });

  test("with the role comment can annotate, but not send messages, stop the turn, drive the browser or manage links", async () => {
    const { cookie } = await open((await createLink({ role: "comment" })).shareUrl);
    const annotation = { event: "submit", annotations: [{ selector: "h1", comment: "bigger" }] };
    assert.equal((await act(cookie, "POST", "/annotations", annotation)).status, 200);
    const listed = await service.read<{ data: { annotations: unknown }[] }>(
      `/api/sessions/${session.sessionId}/annotations`,
    );
    assert.deepEqual(listed.data[0]?.annotations, annotation.annotations);
    assert.equal((await act(cookie, "POST", "/annotations", { event: 1 })).status, 400);
    for (const [path, body] of [
      ["/messages", { text: "x" }],
      ["/cancel", {}],
      ["/browser", { action: "reload" }],
      ["/share-links", { role: "view" }],
    ] as const)
      assert.equal((await act(cookie, "POST", path, body)).status, 403, path);
    const socket = connect(cookie);
    await socket.ready();
    socket.send({ type: "input.text", text: "x" });
    assert.deepEqual(await socket.ended(), {
      code: 4003,
      reason: "the role comment may not send input.text",
    });

    const watcher = (await open((await createLink({ role: "view" })).shareUrl)).cookie;
    assert.equal((await act(watcher, "POST", "/annotations", annotation)).status, 403);
  });

  test("is refused if the session has 100 valid links", async () => {
    const { sessionId } = await create();
    const { db } = service.container.services;
    const rows = Array.from({ length: 99 }, (_, index) => ({
      id: `lnk_${index}`,
      tokenHash: `hash ${index}`,
      sessionId,
      role: "view" as const,
    }));
    await db.insert(shareTokens).values(rows);
    await createLink({ role: "view" }, sessionId);
    const refused = await service.call("POST", links(sessionId), { role: "view" });
    assert.equal(refused.status, 409);
    assert.equal((await service.call("DELETE", `${links(sessionId)}/lnk_1`)).status, 200);
    await createLink({ role: "view" }, sessionId);
  });
});

describe("revoking all links", () => {
  test("ends links, shareUrl, cookies and sockets, and answers with the new shareUrl", async () => {
    const created = await create();
    const { sessionId } = created;
    const link = await createLink({ role: "view" }, sessionId);
    const own = (await open(created.shareUrl)).cookie;
    const sockets = [connect(own, sessionId), connect((await open(link.shareUrl)).cookie, sessionId)];
    await Promise.all(sockets.map((socket) => socket.ready()));

    const { revoked, shareUrl } = await revokeAll(sessionId);
    assert.equal(revoked, 1);
    for (const socket of sockets)
      assert.deepEqual(await socket.ended(), { code: 4001, reason: "the share link was revoked" });
    assert.deepEqual((await open(created.shareUrl)).setCookies, []);
    assert.equal(await pageOf(own, sessionId), undefined);
    assert.equal((await pageOf((await open(shareUrl)).cookie, sessionId))?.role, "drive");
    const list = await service.read<{ data: { id: string; shareUrl: string }[] }>("/api/sessions?limit=1");
    assert.equal(list.data[0]?.shareUrl, shareUrl);
  });

  test("on the session page renews the visitor's own cookie", async () => {
    const { sessionId, shareUrl } = await create();
    const { cookie } = await open(shareUrl);
    const answer = await act(cookie, "POST", "/share-links/revoke-all", undefined, sessionId);
    const renewed = answer.headers.getSetCookie().map((set) => set.split(";")[0] ?? "");
    assert.equal(renewed.length, 2);
    assert.equal(await pageOf(cookie, sessionId), undefined);
    const list = await act(renewed[0] ?? "", "GET", "/share-links", undefined, sessionId);
    assert.equal((await list.json()).shareUrl, (await answer.json()).shareUrl);
  });
});

describe("a visitor who opens another link of the session", () => {
  /** Opens a link in a browser that has a cookie. @returns the cookie that the browser has afterwards. */
  async function openWith(cookie: string, link: string): Promise<string> {
    const url = new URL(link, service.baseUrl);
    const response = await fetch(url, { redirect: "manual", headers: { cookie } });
    assert.equal(response.status, 303);
    assert.ok(!response.headers.get("location")?.includes("key="));
    return response.headers.getSetCookie()[0]?.split(";")[0] ?? cookie;
  }
  const roleOf = async (cookie: string, id: string) => (await pageOf(cookie, id))?.role;
  const expiring = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();

  test("keeps the stronger role, and gets a stronger one", async () => {
    const { sessionId, shareUrl } = await create();
    const [view, comment, drive] = await Promise.all(
      ["view", "comment", "drive"].map((role) => createLink({ role }, sessionId)),
    );
    assert.ok(view && comment && drive);
    let cookie = (await open(view.shareUrl)).cookie;
    const roles: (string | undefined)[] = [];
    for (const { shareUrl: link } of [comment, view, drive, comment, view]) {
      cookie = await openWith(cookie, link);
      roles.push(await roleOf(cookie, sessionId));
    }
    assert.deepEqual(roles, ["comment", "comment", "drive", "drive", "drive"]);

    // The session's own link also manages the links, so a created link of the same role does not replace it.
    cookie = await openWith(await openWith(cookie, shareUrl), drive.shareUrl);
    assert.equal((await act(cookie, "GET", "/share-links", undefined, sessionId)).status, 200);
  });

  test("does not keep a stronger link that was revoked or has expired, or a wrong cookie", async () => {
    const { sessionId, shareUrl } = await create();
    const view = await createLink({ role: "view" }, sessionId);
    const revoked = await createLink({ role: "drive" }, sessionId);
    const expired = await createLink({ role: "drive", expiresAt: expiring(1) }, sessionId);
    const cookies = [
      (await open(revoked.shareUrl)).cookie,
      (await open(expired.shareUrl)).cookie,
      "share=wrong",
    ];
    const revocation = await service.call("DELETE", `${links(sessionId)}/${revoked.record.id}`);
    assert.equal(revocation.status, 200);
    await waitUntil(
      async () => (await roleOf(cookies[1] ?? "", sessionId)) === undefined,
      "the link has expired",
    );
    for (const cookie of cookies)
      assert.equal(await roleOf(await openWith(cookie, view.shareUrl), sessionId), "view", cookie);
    // A strong cookie of another session does not count either.
    const other = (await open(session.shareUrl)).cookie;
    assert.equal(await roleOf(await openWith(other, view.shareUrl), sessionId), "view");
    assert.equal(await roleOf((await open(shareUrl)).cookie, sessionId), "drive");
  });
});

describe("liveViewUrl", () => {
  const readUrl = async () =>
    (await service.read<{ liveViewUrl: string | null }>(`/api/sessions/${session.sessionId}/browser`))
      .liveViewUrl ?? "";
  before(async () => {
    const target = { url: `${service.baseUrl}/demo` };
    await service.call("POST", `/api/sessions/${session.sessionId}/browser`, target);
    await waitUntil(async () => (await readUrl()) !== "", "the browser is ready");
  });

  test("opens only the live view, without another credential, and is the same on every poll", async () => {
    const url = await readUrl();
    assert.equal(await readUrl(), url);
    assert.ok(url.startsWith(`${service.env.baseUrl}/s/${session.sessionId}/live?key=`), url);
    const { cookie, setCookies, location } = await open(url);
    assert.equal(location, `/s/${session.sessionId}/live`);
    assert.deepEqual(
      setCookies.map((set) => /Path=([^;]+)/.exec(set)?.[1]),
      [`/s/${session.sessionId}/live`, `/api/sessions/${session.sessionId}/live`],
    );
    const page = await service.container.mounted.loadLivePage(session.sessionId, cookie);
    assert.equal(page?.role, "view");
    assert.ok(!JSON.stringify(page).includes("A secret conversation."));
    assert.equal(await pageOf(cookie), undefined);
    for (const path of ["/messages", "/annotations"]) {
      const response = await service.call("GET", `/api/sessions/${session.sessionId}${path}`, undefined, {
        authorization: "",
        cookie,
        origin: service.env.baseUrl,
      });
      assert.equal(response.status, 401, path);
    }
    assert.equal((await act(cookie, "GET", "/queue")).status, 404);
  });

  test("opens a socket with pictures and browser events, without the conversation, that accepts no input", async () => {
    const { cookie } = await open(await readUrl());
    const socket = connect(cookie, session.sessionId, "?after=0");
    await socket.ready();
    socket.send({ type: "view.subscribe" });
    await socket.until(() => socket.pictures.length > 0);
    await socket.settle();
    const kinds = new Set(socket.frames.map(({ type }) => type));
    assert.ok(kinds.has("browser.status"));
    for (const kind of ["message.completed", "run.started", "run.completed", "annotation.submitted"])
      assert.ok(!kinds.has(kind as never), kind);
    socket.send({ type: "control.take" });
    assert.deepEqual(await socket.ended(), { code: 4003, reason: "the role view may not send control.take" });
  });

  test("never lowers the role that a visitor already has", async () => {
    const driver = (await open(session.shareUrl)).cookie;
    const both = `${(await open(await readUrl())).cookie}; ${driver}`;
    assert.equal((await pageOf(both))?.role, "drive");
    const page = await service.container.mounted.loadLivePage(session.sessionId, both);
    assert.equal(page?.role, "drive");
    const socket = connect(both);
    await socket.ready();
    const [ready] = socket.frames;
    assert.equal(ready?.type === "ready" && ready.data.role, "drive");
    socket.socket.close();
  });

  test("is in no event or prompt, and ends when all links are revoked", async () => {
    const url = await readUrl();
    const token = url.split("key=")[1] ?? "";
    const events = await service.container.services.log.read(session.sessionId, { after: 0, limit: 1_000 });
    assert.ok(events.some(({ kind }) => kind === "browser.status"));
    for (const { body } of events) assert.ok(!body.includes(token));
    for (const request of service.model.requests) assert.ok(!JSON.stringify(request).includes(token));

    const socket = connect((await open(url)).cookie);
    await socket.ready();
    await revokeAll(session.sessionId);
    assert.deepEqual(await socket.ended(), { code: 4001, reason: "the share link was revoked" });
    assert.notEqual(await readUrl(), url);
    assert.deepEqual((await open(url)).setCookies, []);
  });
});
