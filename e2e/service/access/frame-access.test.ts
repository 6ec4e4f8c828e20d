import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { type HttpTestService, openHttpTestService } from "../http-testing.ts";

let service: HttpTestService;
before(async () => {
  service = await openHttpTestService({ EMBED_ORIGINS: "https://a.example, https://b.example" });
  service.model.respondWith(() => ({ text: "Done." }));
});
after(() => service.close());

type Link = { role: string; embedOrigins?: string[] };

/** Creates a session and links to it. `send` sends a request with the token of a link in the header. */
async function makeLinks() {
  const { sessionId, shareUrl, statusUrl } = await service.create("work");
  await service.completed(statusUrl);
  const own = new URL(shareUrl, service.baseUrl).searchParams.get("key") ?? "";
  const send = (token: string, method: string, path: string, body?: unknown, more = {}) =>
    service.fetch(`${service.baseUrl}${path}`, {
      method,
      headers: {
        "x-share-token": token,
        origin: service.baseUrl,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...more,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  async function createLink(link: Link) {
    const answer = await service.call("POST", `/api/sessions/${sessionId}/share-links`, link);
    const body = await answer.json();
    const token = body.shareUrl && new URL(body.shareUrl, service.baseUrl).searchParams.get("key");
    return { status: answer.status, body, token: String(token) };
  }
  return { sessionId, own, send, createLink };
}

describe("a share token in a header", () => {
  test("admits to what its role allows, and to nothing of other sessions", async () => {
    const { sessionId, own, send, createLink } = await makeLinks();
    const page = `/s/${sessionId}/actions`;
    const viewer = await createLink({ role: "view" });
    assert.equal((await send(viewer.token, "GET", `/api/sessions/${sessionId}/messages`)).status, 200);
    assert.equal((await send(viewer.token, "POST", `${page}/messages`, { text: "no" })).status, 403);
    assert.equal((await send(viewer.token, "POST", `${page}/host-messages`, { text: "no" })).status, 403);
    assert.equal((await send(own, "POST", `${page}/host-messages`, { text: "yes" })).status, 202);
    const other = await makeLinks();
    assert.equal((await send(own, "GET", `/api/sessions/${other.sessionId}/messages`)).status, 404);
    assert.equal((await send("wrong", "GET", `${page}/frame`)).status, 404);
  });

  test("is the only credential of its request: a cookie does not help, and other origins are refused", async () => {
    const { sessionId, own, send } = await makeLinks();
    const path = `/s/${sessionId}/actions/frame`;
    assert.equal((await send("wrong", "GET", path, undefined, { cookie: `share=${own}` })).status, 404);
    assert.equal((await send(own, "GET", path, undefined, { origin: "https://a.example" })).status, 403);
    const preflight = await service.fetch(`${service.baseUrl}${path}`, {
      method: "OPTIONS",
      headers: { origin: "https://a.example", "access-control-request-headers": "x-share-token" },
    });
    assert.equal(preflight.headers.get("access-control-allow-origin"), null);
  });

  test("is checked with a HEAD, for which browsers send no Origin", async () => {
    const { sessionId, own, createLink } = await makeLinks();
    const path = `/s/${sessionId}/actions/frame`;
    const head = (token: string, more = {}) =>
      service.fetch(`${service.baseUrl}${path}`, {
        method: "HEAD",
        headers: { "x-share-token": token, "sec-fetch-site": "same-origin", ...more },
      });
    assert.equal((await head(own)).status, 200);
    assert.equal((await head("wrong")).status, 404);
    assert.equal((await head(own, { "sec-fetch-site": "cross-site" })).status, 403);
    const link = await createLink({ role: "view" });
    assert.equal((await head(link.token)).status, 200);
    await service.call("DELETE", `/api/sessions/${sessionId}/share-links/${link.body.record.id}`);
    assert.equal((await head(link.token)).status, 404);
  });

  test("that is empty or too long is refused, also with a cookie that gives access", async () => {
    const { sessionId, own, send } = await makeLinks();
    const cookie = `share=${own}`;
    for (const token of ["", "a".repeat(201)])
      for (const path of [`/s/${sessionId}/actions/frame`, `/api/sessions/${sessionId}/messages`])
        assert.equal((await send(token, "GET", path, undefined, { cookie })).status, 404, path);
  });

  test("of a liveViewUrl loads the frame without the conversation", async () => {
    const { sessionId, send } = await makeLinks();
    const { shares } = service.container.services;
    const key = shares.liveViewPath(sessionId, 0).split("key=")[1] ?? "";
    const answer = await send(key, "GET", `/s/${sessionId}/actions/frame`);
    const { scope, snapshot } = await answer.json();
    assert.deepEqual(
      [answer.status, scope, snapshot.role, snapshot.messages],
      [200, "live-view", "view", []],
    );
    assert.equal((await send(key, "GET", `/api/sessions/${sessionId}/messages`)).status, 404);
  });

  test("loads the frame with the origins of its link", async () => {
    const { sessionId, own, send, createLink } = await makeLinks();
    const path = `/s/${sessionId}/actions/frame`;
    const narrow = await createLink({ role: "view", embedOrigins: ["https://b.example"] });
    assert.deepEqual(narrow.body.record.embedOrigins, ["https://b.example"]);
    const origins = ["https://a.example", "https://b.example"];
    const narrowed = await (await send(narrow.token, "GET", path)).json();
    assert.deepEqual([narrowed.origins, narrowed.linkOrigins], [origins, ["https://b.example"]]);
    const all = await (await send(own, "GET", path)).json();
    assert.deepEqual([all.origins, all.linkOrigins], [origins, null]);
    for (const embedOrigins of [[], ["https://b.example/"], Array(11).fill("https://a.example")]) {
      const refused = await createLink({ role: "view", embedOrigins });
      assert.deepEqual([refused.status, refused.body.code], [400, "invalid_request"]);
      assert.match(refused.body.error, /^embedOrigins/);
    }
  });
});

/** Opens the live socket with a cookie, sends a token in the first frame, and returns the first frame or close code. */
function openLive(sessionId: string, query: string, cookie: string, token: string) {
  const url = `${service.baseUrl.replace("http", "ws")}/api/sessions/${sessionId}/live${query}`;
  const socket = new WebSocket(url, { headers: { cookie: `share=${cookie}`, origin: service.baseUrl } });
  socket.on("open", () => socket.send(JSON.stringify({ type: "auth", token })));
  return new Promise<string | number>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("close", resolve);
    socket.on("message", (data) => {
      resolve(JSON.parse(data.toString()).data.role);
      socket.close();
    });
  });
}

test("a socket with auth=frame has the role of its token, whatever cookie comes along", async () => {
  const { sessionId, own, createLink } = await makeLinks();
  const viewer = await createLink({ role: "view" });
  assert.equal(await openLive(sessionId, "?auth=frame", own, viewer.token), "view");
  assert.equal(await openLive(sessionId, "?auth=frame", own, "wrong"), 4001);
  assert.equal(await openLive(sessionId, "", own, viewer.token), "drive");
});
