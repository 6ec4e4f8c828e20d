import { expect, test } from "@playwright/test";
import { redeemLoginLink } from "../fixtures/log-in.ts";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { type CreatedSession, type RunningService, startService, waitUntil } from "../fixtures/service.ts";
import { expectRefusal } from "./expect-refusal.ts";

let service: RunningService;
let model: ScriptedModel;
let created: CreatedSession;
let cookie: string;

test.beforeAll(async () => {
  model = await startScriptedModel({ script: { otherwise: { text: "Done." } } });
  service = await startService({ OPENAI_BASE_URL: model.baseUrl });
  created = await service.create("Hello");
  cookie = (await open(created.shareUrl)).headers.getSetCookie()[0]?.split(";")[0] ?? "";
  await service.completed(created.statusUrl);
});
test.afterAll(async () => {
  await service.close();
  await model.close();
});

/** Requests a page without following redirects. */
const open = (path: string, headers: Record<string, string> = {}) =>
  fetch(service.baseUrl + path, { headers, redirect: "manual" });
const act = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
  fetch(`${service.baseUrl}/s/${created.sessionId}/actions${path}`, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

test.describe("shareUrl", () => {
  test("exchanges its token for HttpOnly cookies scoped to the session, and redirects to the URL without it", async () => {
    const response = await open(created.shareUrl);
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe(`/s/${created.sessionId}`);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    const cookies = response.headers.getSetCookie();
    expect(cookies).toHaveLength(2);
    for (const [index, path] of [`/s/${created.sessionId}`, `/api/sessions/${created.sessionId}`].entries()) {
      expect(cookies[index]).toContain(`; Path=${path};`);
      expect(cookies[index]).toMatch(/; HttpOnly; SameSite=Lax; Max-Age=\d+$/);
    }
  });

  test("opens the session page, which sends no Referer; the cookie's value is not logged", async () => {
    const page = await open(`/s/${created.sessionId}`, { cookie });
    expect(page.status).toBe(200);
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(service.output()).not.toContain(cookie.split("=")[1]);
  });

  test("is not in the session page or the live view, whose compression could leak it", async () => {
    const token = new URL(created.shareUrl, service.baseUrl).searchParams.get("key") ?? "";
    for (const path of ["", "/live"]) {
      const page = await open(`/s/${created.sessionId}${path}`, { cookie, "accept-encoding": "gzip" });
      expect(page.headers.get("content-encoding")).toBe("gzip");
      expect(await page.text()).not.toContain(token);
    }
  });

  test("with the path /live leads to the live view", async () => {
    const [path = "", query] = created.shareUrl.split("?");
    const response = await open(`${path}/live?${query}`);
    expect([response.status, response.headers.get("location")]).toEqual([303, `${path}/live`]);
    expect((await open(`${path}/live`, { cookie })).status).toBe(200);
  });

  test("shows the same 404 page for a wrong token, no cookie, a wrong cookie and an unknown session", async () => {
    const wrong = await open(`/s/${created.sessionId}?key=${"a".repeat(32)}`);
    expect(wrong.headers.getSetCookie()).toEqual([]);
    expect(wrong.headers.get("location")).toBe(`/s/${created.sessionId}`);
    const unknown = await open("/s/ses_aaaaaaaaaaaaaaaaaaaaaaaa?key=abc");
    expect([unknown.status, unknown.headers.getSetCookie()]).toEqual([wrong.status, []]);

    const pages = await Promise.all([
      open(`/s/${created.sessionId}`),
      open(`/s/${created.sessionId}`, { cookie: "share=wrong" }),
      open("/s/ses_aaaaaaaaaaaaaaaaaaaaaaaa", { cookie }),
      open("/s/NOT-AN-ID", { cookie }),
      open(`/s/${created.sessionId}/live`),
    ]);
    // Compares only `main` or the beginning of the body, because two responses with the same page differ in the nonce
    // and in the order of streamed parts.
    const shown = await Promise.all(
      pages.map(async (page) => [
        page.status,
        /<main.*<\/main>|<body.*?<script/s.exec(await page.text())?.[0],
      ]),
    );
    expect(shown[0]?.[0]).toBe(404);
    expect(shown[0]?.[1]).toContain("Nothing here");
    for (const other of shown) expect(other).toEqual(shown[0]);
  });

  test("is the same in a replayed creation", async () => {
    const more = { idempotencyKey: "same-link" };
    const first = await service.create("Hi", more);
    const replay = await service.call("POST", "/api/session", {
      messages: [{ role: "user", parts: [{ type: "text", text: "Hi" }] }],
      ...more,
    });
    expect((await replay.json()).shareUrl).toBe(first.shareUrl);
  });

  test("sets a cookie that opens no other session", async () => {
    const other = await service.create("Another");
    expect((await open(`/s/${other.sessionId}`, { cookie })).status).toBe(404);
    await expectRefusal(
      await open(`/api/sessions/${other.sessionId}/messages`, { cookie }),
      404,
      "not_found",
    );
  });

  test("sets a cookie that reads the page's data, only from this origin", async () => {
    const messages = `/api/sessions/${created.sessionId}/messages`;
    expect((await open(messages, { cookie })).status).toBe(200);
    expect((await open(messages, { cookie, origin: service.baseUrl })).status).toBe(200);
    await expectRefusal(await open(messages, { cookie, origin: "https://a.example" }), 403, "forbidden");
    await expectRefusal(await open(messages, { cookie, "sec-fetch-site": "cross-site" }), 403, "forbidden");
    await expectRefusal(await open(messages), 401, "unauthorized");
  });

  test("sets a cookie that is not accepted as an API key", async () => {
    for (const path of ["/agent/status", "/browser", "/deliveries"])
      await expectRefusal(
        await open(`/api/sessions/${created.sessionId}${path}`, { cookie }),
        401,
        "unauthorized",
      );
  });
});

test.describe("the page's own actions", () => {
  const origin = () => ({ origin: service.baseUrl });

  test("start a person's turn with the share cookie and this Origin", async () => {
    const response = await act("POST", "/messages", { cookie, ...origin() }, { text: "From the page" });
    expect(response.status).toBe(202);
    const accepted = await response.json();
    await service.completed(accepted.statusUrl);
    const stream = await (await service.call("GET", accepted.streamUrl)).text();
    expect(stream).toContain('"origin":"person"');
  });

  test("require Origin, and refuse another site's", async () => {
    for (const headers of [{ cookie }, { cookie, origin: "https://a.example" }, { cookie, origin: "null" }])
      await expectRefusal(await act("POST", "/messages", headers, { text: "x" }), 403, "forbidden");
  });

  test("refuse API keys", async () => {
    const key = { authorization: "Bearer key-of-the-end-to-end-tests", ...origin() };
    for (const [method, path, body] of [
      ["POST", "/messages", { text: "x" }],
      ["POST", "/cancel", undefined],
      ["POST", "/browser", { url: "https://a.example" }],
      ["GET", "/queue", undefined],
    ] as const)
      await expectRefusal(await act(method, path, key, body), 404, "not_found");
  });

  test("list, edit and remove queued messages", async () => {
    let release = () => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    model.respondWith((request) =>
      request.userText.includes("Hold on") ? { text: "Held.", hold: held } : undefined,
    );
    const headers = { cookie, ...origin() };
    const say = async (text: string) => (await act("POST", "/messages", headers, { text })).json();
    const running = await say("Hold on");
    const [first, second] = [await say("First"), await say("Second")];
    expect([running.queued, first.queued, second.queued]).toEqual([false, true, true]);
    const readQueue = async () => (await (await act("GET", "/queue", { cookie })).json()).data;
    expect((await readQueue()).map((item: { text: string }) => item.text)).toEqual(["First", "Second"]);

    expect((await act("PATCH", `/queue/${first.requestId}`, headers, { text: "Edited" })).status).toBe(200);
    expect((await act("DELETE", `/queue/${second.requestId}`, headers)).status).toBe(200);
    expect((await readQueue()).map((item: { text: string }) => item.text)).toEqual(["Edited"]);
    await expectRefusal(await act("DELETE", `/queue/${running.requestId}`, headers), 409, "conflict");
    await expectRefusal(await act("DELETE", `/queue/${second.requestId}`, headers), 409, "conflict");
    await expectRefusal(await act("PATCH", "/queue/req_unknown", headers, { text: "x" }), 404, "not_found");
    await expectRefusal(
      await act("PATCH", `/queue/${first.requestId}`, headers, { text: "" }),
      400,
      "invalid_request",
      "text: must not be empty",
    );

    release();
    await service.completed(first.statusUrl);
    expect(await service.read(second.statusUrl)).toMatchObject({ status: "completed" });
    expect(await (await service.call("GET", second.streamUrl)).text()).toContain('"outcome":"cancelled"');
    await waitUntil(
      () => model.requests.some((request) => request.userText.includes("Edited")),
      "the edited message was played",
    );
    expect(model.requests.some((request) => request.userText.includes("Second"))).toBe(false);
  });
});

test.describe("the login link", () => {
  const start = (headers: Record<string, string>) =>
    fetch(`${service.baseUrl}/actions/sessions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({
        messages: [{ role: "user", parts: [{ type: "text", text: "From the landing page" }] }],
      }),
    });

  test("opens a page that changes nothing, for previews and prefetches of any method", async () => {
    const link = service.loginUrl;
    for (const [method, headers] of [
      ["GET", {}],
      ["GET", { "sec-purpose": "prefetch;prerender", purpose: "prefetch" }],
      ["HEAD", { "user-agent": "Slackbot-LinkExpanding 1.0" }],
      ["OPTIONS", {}],
    ] as const) {
      const page = await fetch(link, { method, headers, redirect: "manual" });
      expect(page.headers.getSetCookie()).toEqual([]);
      if (method === "OPTIONS") continue;
      expect(page.status).toBe(200);
      expect(page.headers.get("cache-control")).toContain("no-store");
      expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    }
    const bare = await open("/login");
    expect([bare.status, bare.headers.get("location")]).toEqual([307, "/"]);
  });

  test("does not sign in for another origin, or without an origin", async () => {
    const headers = [{}, { origin: "https://a.example" }, { origin: "null" }];
    for (const each of headers)
      await expectRefusal(await redeemLoginLink(service.loginUrl, each), 403, "forbidden");
  });

  test("works once, and sets a SameSite=Strict cookie that starts sessions from this origin", async () => {
    const first = await redeemLoginLink(service.loginUrl);
    expect(first.status).toBe(200);
    expect(first.headers.get("cache-control")).toBe("no-store");
    const [set = ""] = first.headers.getSetCookie();
    expect(set).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    const operator = set.split(";")[0] ?? "";

    const second = await redeemLoginLink(service.loginUrl);
    expect(second.headers.getSetCookie()).toEqual([]);
    await expectRefusal(second, 401, "unauthorized");

    expect((await start({ cookie: operator, origin: service.baseUrl })).status).toBe(201);
    // The list of sessions contains share tokens. It is never compressed, because the size of a compressed response
    // could reveal parts of the tokens.
    const list = await open("/", { cookie: operator, "accept-encoding": "gzip, br, deflate" });
    expect(list.headers.get("content-encoding")).toBeNull();
    expect(await list.text()).toContain("/s/ses_");
    await expectRefusal(await start({ cookie: operator, origin: "https://a.example" }), 403, "forbidden");
    await expectRefusal(await start({ cookie: operator }), 403, "forbidden");
    await expectRefusal(await start({ origin: service.baseUrl }), 401, "unauthorized");
    await expectRefusal(
      await start({ origin: service.baseUrl, cookie: `${operator}x` }),
      401,
      "unauthorized",
    );
    await expectRefusal(
      await start({ origin: service.baseUrl, authorization: "Bearer key-of-the-end-to-end-tests" }),
      401,
      "unauthorized",
    );
  });
});
