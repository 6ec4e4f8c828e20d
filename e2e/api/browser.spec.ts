import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { type RunningService, startService, waitUntil } from "../fixtures/service.ts";
import { expectBare, expectRefusal } from "./expect-refusal.ts";

let service: RunningService;
let model: ScriptedModel;
let site: Server;
let origin: string;
const FIRST_PARTY = "https://editor.example";

test.beforeAll(async () => {
  site = createServer((request, response) => {
    if (request.url === "/moved") return response.writeHead(302, { location: "/landed" }).end();
    response
      .writeHead(200, { "content-type": "text/html" })
      .end(`<title>${request.url}</title><h1>Page</h1>`);
  });
  await new Promise<void>((done) => site.listen(0, "127.0.0.1", done));
  const { port } = site.address() as AddressInfo;
  origin = `http://127.0.0.1:${port}`;
  model = await startScriptedModel({
    script: {
      rules: [
        {
          when: "a picture",
          steps: [{ toolCalls: [{ name: "screenshot", arguments: {} }] }, { text: "Taken." }],
        },
        {
          when: "the page",
          steps: [{ toolCalls: [{ name: "save_cleaned_html", arguments: {} }] }, { text: "Saved." }],
        },
      ],
      otherwise: { text: "Done." },
    },
  });
  service = await startService({
    OPENAI_BASE_URL: model.baseUrl,
    NETWORK_ALLOW: `127.0.0.1:${port},127.0.0.1:${model.port}`,
    FIRST_PARTY_ORIGINS: `${FIRST_PARTY}, https://www.example`,
  });
});
test.afterAll(async () => {
  await service.close();
  await model.close();
  site.closeAllConnections();
  site.close();
});

type BrowserStatus = Record<
  "status" | "desiredUrl" | "lastNavigatedUrl" | "currentUrl" | "lastError" | "liveViewUrl",
  string | null
>;
const browserPath = (sessionId: string) => `/api/sessions/${sessionId}/browser`;
const readStatus = (sessionId: string) => service.read<BrowserStatus>(browserPath(sessionId));
const retarget = (sessionId: string, body: unknown) => service.call("POST", browserPath(sessionId), body);

/** Retargets the browser, and polls its status until the navigation has succeeded or was refused. */
async function retargetAndPoll(sessionId: string, url: string): Promise<BrowserStatus> {
  const response = await retarget(sessionId, { url });
  expect([response.status, await response.json()]).toEqual([
    202,
    { accepted: true, url, statusUrl: browserPath(sessionId) },
  ]);
  let status = await readStatus(sessionId);
  await waitUntil(async () => {
    status = await readStatus(sessionId);
    return status.lastNavigatedUrl === url || status.lastError !== null;
  }, `${url} has landed or was refused`);
  return status;
}

test.describe("browser status", () => {
  test("is `idle` for a session without a browser, and the record has no envelope", async () => {
    // Without the tool `dom_query`, the service does not open the target page before the first model call.
    const { sessionId } = await service.create("Hi", {
      targetUrl: `${origin}/target`,
      tools: { exclude: ["dom_query"] },
    });
    const response = await service.call("GET", browserPath(sessionId));
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        status: "idle",
        sessionId,
        liveViewUrl: null,
        desiredUrl: `${origin}/target`,
        lastNavigatedUrl: null,
        currentUrl: null,
        lastError: null,
      },
    ]);
  });
});

test.describe("a retarget", () => {
  test("starts a browser on the URL and lands; a refused URL leaves the page and is reported", async () => {
    test.slow();
    const { sessionId, shareUrl } = await service.create("Hi");
    const landed = await retargetAndPoll(sessionId, `${origin}/first?x=1#top`);
    expect(landed).toMatchObject({
      status: "ready",
      sessionId,
      lastError: null,
      desiredUrl: `${origin}/first?x=1#top`,
      lastNavigatedUrl: `${origin}/first?x=1#top`,
    });
    expect(landed.liveViewUrl).toContain(`${service.baseUrl}${shareUrl.split("?")[0]}/live?key=`);

    const moved = await retargetAndPoll(sessionId, `${origin}/moved`);
    expect(moved).toMatchObject({ lastNavigatedUrl: `${origin}/moved`, currentUrl: `${origin}/landed` });

    for (const refused of [
      "http://10.1.2.3/",
      "http://169.254.169.254/latest/meta-data",
      "http://localhost:1/",
      "http://[::1]/",
    ]) {
      const status = await retargetAndPoll(sessionId, refused);
      expect(status.lastError).toContain("NETWORK_ALLOW");
      expect(status).toMatchObject({
        status: "ready",
        desiredUrl: refused,
        lastNavigatedUrl: `${origin}/moved`,
      });
    }
    const again = await retargetAndPoll(sessionId, `${origin}/second`);
    expect(again).toMatchObject({ lastError: null, lastNavigatedUrl: `${origin}/second` });
  });

  test("to the page that the browser already shows lands again", async () => {
    const { sessionId } = await service.create("Hi");
    for (let round = 0; round < 2; round++)
      expect(await retargetAndPoll(sessionId, `${origin}/same`)).toMatchObject({ lastError: null });
  });

  test("without url is 400 { error: `url is required` }", async () => {
    const { sessionId } = await service.create("Hi");
    for (const body of [
      {},
      { URL: "https://a.example" },
      { url: null },
      { url: "" },
      [],
      null,
      "",
      "{",
      '"https://a.example"',
      "5",
    ])
      await test.step(JSON.stringify(body), async () => {
        await expectBare(await retarget(sessionId, body), 400, "url is required");
      });
    const empty = await fetch(service.baseUrl + browserPath(sessionId), {
      method: "POST",
      headers: { authorization: "Bearer key-of-the-end-to-end-tests" },
    });
    await expectBare(empty, 400, "url is required");
  });

  test("to anything but an absolute http(s) URL is 400 { error: `url must be an http(s) URL` }", async () => {
    const { sessionId } = await service.create("Hi");
    for (const url of [
      5,
      true,
      {},
      ["https://a.example"],
      "/path",
      "a.example",
      "javascript:alert(1)",
      "file:///etc/passwd",
      "about:blank",
      "data:text/html,x",
      "http://",
      "https:/a.example",
      "chrome://version",
      "ftp://a.example",
      " ",
    ])
      await test.step(JSON.stringify(url), async () => {
        await expectBare(await retarget(sessionId, { url }), 400, "url must be an http(s) URL");
      });
    expect(await readStatus(sessionId)).toMatchObject({ status: "idle", desiredUrl: null });
  });

  test("of a session without browser is 409", async () => {
    for (const capabilities of [{ browser: false }, { sandbox: false }]) {
      const { sessionId } = await service.create("Hi", { capabilities });
      await expectRefusal(await retarget(sessionId, { url: origin }), 409, "conflict");
      expect(await readStatus(sessionId)).toMatchObject({ status: "idle" });
    }
  });
});

test("a session id that does not match the pattern gets the router's own 404 page", async () => {
  const expected = await (await service.call("GET", "/no-such-page")).text();
  const body = /<body.*?<script/s.exec(expected)?.[0];
  for (const id of ["ABC", "ses_ABC", "-abc", "_abc", "a".repeat(65), "a.b", "%00", "a%20b"])
    for (const method of ["GET", "POST", "OPTIONS", "DELETE"])
      await test.step(`${method} ${id}`, async () => {
        const response = await service.call(
          method,
          browserPath(id),
          method === "POST" ? { url: origin } : undefined,
        );
        expect(response.status).toBe(404);
        const text = await response.text();
        expect(response.headers.get("content-type")).toMatch(/^text\/html/);
        if (method === "GET") expect(/<body.*?<script/s.exec(text)?.[0]).toBe(body);
      });
  await expectRefusal(await service.call("GET", browserPath("a".repeat(64))), 404, "not_found");
});

test.describe("cross-origin calls", () => {
  const send = (method: string, sessionId: string, from: string) =>
    service.call(method, browserPath(sessionId), undefined, { origin: from });

  test("are allowed from first-party origins", async () => {
    const { sessionId } = await service.create("Hi");
    const preflight = await send("OPTIONS", sessionId, FIRST_PARTY);
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe(FIRST_PARTY);
    expect(preflight.headers.get("access-control-allow-methods")).toBe("GET, POST, OPTIONS");
    expect(preflight.headers.get("access-control-allow-headers")).toBe(
      "content-type, authorization, x-service-api-key",
    );
    const read = await send("GET", sessionId, FIRST_PARTY);
    expect([read.status, read.headers.get("access-control-allow-origin")]).toEqual([200, FIRST_PARTY]);
    expect(read.headers.get("vary")?.toLowerCase()).toContain("origin");
    const refused = await send("POST", sessionId, FIRST_PARTY);
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([400, FIRST_PARTY]);
  });

  test("are refused from other origins", async () => {
    const { sessionId } = await service.create("Hi");
    for (const from of [
      "https://evil.example",
      "https://editor.example.evil.example",
      "http://editor.example",
      "null",
    ])
      for (const method of ["OPTIONS", "GET", "POST"]) {
        const response = await send(method, sessionId, from);
        expect(response.headers.has("access-control-allow-origin")).toBe(false);
        await expectRefusal(response, 403, "forbidden");
      }
  });
});

test.describe("artifacts", () => {
  test("are served to the session's owner: pictures inline, saved pages as downloads", async () => {
    test.slow();
    const created = await service.create("Take a picture", { targetUrl: `${origin}/shop` });
    await service.completed(created.statusUrl);
    const saved = await (
      await service.call("POST", `/api/sessions/${created.sessionId}/agent/messages`, {
        text: "Save the page",
      })
    ).json();
    await service.completed(saved.statusUrl);
    const idsIn = async (path: string) =>
      [...(await (await service.call("GET", path)).text()).matchAll(/"id":"(evi_[a-z2-7]{24})"/g)].map(
        ([, id]) => id,
      );
    const [picture] = await idsIn(created.streamUrl);
    const [page] = await idsIn(saved.streamUrl);
    const artifact = (id: string | undefined) => `/api/sessions/${created.sessionId}/artifacts/${id}`;

    const shown = await service.call("GET", artifact(picture));
    expect(shown.status).toBe(200);
    expect(shown.headers.get("content-type")).toMatch(/^image\//);
    expect(shown.headers.get("content-security-policy")).toContain("sandbox");
    const downloaded = await service.call("GET", artifact(page));
    expect(downloaded.headers.get("content-disposition")).toMatch(/^attachment/);
    expect(downloaded.headers.get("content-type")).toBe("application/octet-stream");
    expect(await downloaded.text()).toContain("Page");

    const other = await service.create("Another");
    const foreign = await service.call("GET", `/api/sessions/${other.sessionId}/artifacts/${picture}`);
    await expectRefusal(foreign, 404, "not_found", "no such artifact");
  });
});
