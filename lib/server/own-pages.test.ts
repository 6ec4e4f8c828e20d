import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from "node:http";
import { beforeEach, describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { createOwnPages } from "./own-pages.ts";
import { composeReference } from "./reference/compose-reference.ts";
import { listenForTests } from "./testing.ts";

const SCRIPT = "self.rows = ['a'];";
const REFERENCE = `<!DOCTYPE html><html lang="en" class="a"><script src="/_next/a.js" async=""></script><script>${SCRIPT}</script><p>${"x".repeat(100_000)}</p></html>`;

/** What Next was asked for. */
const asked: string[] = [];
let renderings = 0;
let failures = 0;

async function handle({ method, url }: IncomingMessage, response: ServerResponse): Promise<void> {
  asked.push(`${method} ${url}`);
  response.end("a page");
}

async function renderReference() {
  renderings += 1;
  if (failures-- > 0) throw new Error("rendering failed");
  return composeReference({ html: REFERENCE, link: "</a.css>; rel=preload" });
}

const listen = (isDev: boolean) => {
  const send = createOwnPages({ handle, renderReference, embedOrigins: [], isDev });
  return listenForTests(
    createServer((request, response) => {
      const url = new URL(request.url ?? "", "http://service.example");
      send(request, response, url).catch(() => response.writeHead(500).end());
    }),
  );
};
const port = await listen(false);

async function call(path: string, { method = "GET", headers = {}, to = port } = {}) {
  const sent = sendRequest({ host: "127.0.0.1", port: to, path, method, headers, agent: false }).end();
  const [message] = (await once(sent, "response")) as [IncomingMessage];
  return { message, body: Buffer.concat(await message.toArray()) };
}

beforeEach(() => {
  asked.length = 0;
  renderings = 0;
});

describe("the API reference", () => {
  test("is rendered once, however many callers ask for it, and after a failure again", async () => {
    failures = 1;
    assert.equal((await call("/docs")).message.statusCode, 500);
    renderings = 0;
    const paths = ["/docs", "/docs?a=1", "/./docs", "/docs?_rsc=a"];
    const answers = await Promise.all(
      [...paths, ...paths].map((path) =>
        call(path, { headers: path.endsWith("_rsc=a") ? { rsc: "1" } : {} }),
      ),
    );
    assert.deepEqual([renderings, asked], [1, []]);
    for (const { message, body } of answers) {
      assert.equal(message.statusCode, 200);
      assert.equal(body.toString(), REFERENCE);
      assert.equal(message.headers.etag, answers[0]?.message.headers.etag);
      assert.equal(message.headers.link, "</a.css>; rel=preload");
    }
  });

  test("is revalidated, compressed and sent in the visitor's theme from the same rendering", async () => {
    const { message, body } = await call("/docs", {
      headers: { cookie: "a=b; theme=dark", "accept-encoding": "br, gzip" },
    });
    const dark = REFERENCE.replace('lang="en"', 'lang="en" data-theme="dark"');
    assert.equal(gunzipSync(body).toString(), dark);
    assert.equal(message.headers["content-encoding"], "gzip");
    const etag = String(message.headers.etag);
    const again = { cookie: "__Host-theme=dark", "accept-encoding": "gzip", "if-none-match": etag };
    assert.equal((await call("/docs", { headers: again })).message.statusCode, 304);
    assert.equal((await call("/docs", { headers: { "if-none-match": etag } })).message.statusCode, 200);
    const head = await call("/docs", { method: "HEAD" });
    assert.equal(head.message.headers["content-length"], String(REFERENCE.length));
    assert.equal(head.body.byteLength, 0);
    assert.deepEqual([renderings, asked], [0, []]);
  });

  test("allows exactly its own scripts, without a nonce", async () => {
    const policy = String((await call("/docs")).message.headers["content-security-policy"]);
    const hash = createHash("sha256").update(SCRIPT).digest("base64");
    assert.match(policy, /(^|; )style-src 'self'(;|$)/);
    assert.ok(policy.includes(`script-src 'self' 'sha256-${hash}';`), policy);
    assert.doesNotMatch(policy, /nonce|unsafe|strict-dynamic/);
  });
});

describe("a page", () => {
  test("gets only the parameters that pages read, because Next copies the query into the page", async () => {
    for (const path of [
      `/?${"a[b]=1&".repeat(1_500)}login=failed&login=expired`,
      "//x?a=1",
      "/login?token=abc&a=1",
      `/?login=${"x".repeat(301)}`,
      "/s/ses_a?a=1",
      "/s/ses_a",
    ])
      await call(path);
    assert.deepEqual(asked, [
      "GET /?login=failed",
      "GET //x",
      "GET /login?token=abc",
      "GET /",
      "GET /s/ses_a",
      "GET /s/ses_a",
    ]);
  });

  test("is read only: every other method is refused before Next reads a body", async () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "PURGE"]) {
      const { message, body } = await call("/", { method, headers: { "next-action": "a" } });
      assert.equal(message.statusCode, 405);
      assert.equal(message.headers.allow, "GET, HEAD, OPTIONS");
      assert.equal(JSON.parse(body.toString()).code, "method_not_allowed");
    }
    assert.deepEqual(asked, []);
    // The 404 page answers other methods too: an operation at an impossible address is a page that does not exist.
    await call("/_no-such-page", { method: "POST" });
    await call("/api/nothing", { method: "POST" });
    assert.deepEqual(asked.splice(0), ["POST /_no-such-page", "POST /api/nothing"]);
    const development = await listen(true);
    await call("/__nextjs_original-stack-frames?a=1", { method: "POST", to: development });
    assert.deepEqual(asked, ["POST /__nextjs_original-stack-frames?a=1"]);
  });
});
