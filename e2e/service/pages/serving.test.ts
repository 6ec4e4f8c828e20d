import assert from "node:assert/strict";
import { once } from "node:events";
import { request as sendRequest } from "node:http";
import { after, before, describe, it } from "node:test";
import { gunzipSync } from "node:zlib";
import { startTestPostgres } from "#db/postgres-testing.ts";
import { createDatabase } from "#db/testing.ts";
import { type HttpTestService, openHttpTestService } from "../http-testing.ts";
import { waitUntil } from "../testing.ts";
import { deploy, deployFiles, openSession, writeFolder } from "./pages-testing.ts";

const INDEX = `<!doctype html><meta charset="utf-8"><title>Käse</title>${"<p>text</p>".repeat(200)}`;
const VIDEO = Uint8Array.from({ length: 1_000 }, (_, index) => index % 251);
const FILES = {
  "index.html": INDEX,
  "about.html": "about",
  "docs/index.html": "docs",
  "docs/guide.html": "guide",
  "app.js": "export const a = 1;",
  "style.css": "a {}",
  "data.json": '{"a":1}',
  "logo.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
  "font.woff2": new Uint8Array([1, 2]),
  "clip.mp4": VIDEO,
  "odd name ä%2f.txt": "odd",
  readme: "no extension",
  "empty.txt": "",
};

let service: HttpTestService;
let slug: string;
let sessionId: string;
before(async () => {
  service = await openHttpTestService();
  const deployed = await deployFiles(service, FILES);
  slug = deployed.page.slug;
  sessionId = deployed.session.sessionId;
});
after(() => service.close());

type Reply = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer };

/** Sends a request without normalizing its path. */
async function send(
  path: string,
  { method = "GET", ...headers }: Record<string, string> = {},
  { port }: URL = new URL(service.baseUrl),
): Promise<Reply> {
  const sent = sendRequest({ host: "127.0.0.1", port, path, method, agent: false, headers }).end();
  const [message] = (await once(sent, "response")) as [import("node:http").IncomingMessage];
  const body = Buffer.concat(await message.toArray());
  return { status: message.statusCode ?? 0, headers: message.headers, body };
}

function assertPageHeaders({ headers }: Reply, about: string): void {
  assert.equal(headers["content-security-policy"], "sandbox allow-scripts allow-forms allow-popups", about);
  assert.equal(headers["access-control-allow-origin"], "*", about);
  assert.equal(headers["x-content-type-options"], "nosniff", about);
  assert.equal(headers["set-cookie"], undefined, about);
}

describe("a page", () => {
  it("does not reveal the session that deployed it, because the annotation webhook needs only its id", async () => {
    for (const path of [`/p/${slug}/`, `/p/${slug}`, `/p/${slug}/app.js`, `/p/${slug}/missing`]) {
      const { headers, body } = await send(path);
      const answer = `${slug} ${JSON.stringify(headers)} ${body}`;
      assert.ok(!answer.includes(sessionId.slice("ses_".length)), path);
    }
  });

  it("is served with its content types and headers, also with cookies of the service", async () => {
    const TYPES: [string, string, string][] = [
      ["", "text/html; charset=utf-8", INDEX],
      ["index.html", "text/html; charset=utf-8", INDEX],
      ["about", "text/html; charset=utf-8", "about"],
      ["docs/", "text/html; charset=utf-8", "docs"],
      ["docs/guide", "text/html; charset=utf-8", "guide"],
      ["app.js", "text/javascript; charset=utf-8", "export const a = 1;"],
      ["style.css", "text/css; charset=utf-8", "a {}"],
      ["data.json?x=1", "application/json; charset=utf-8", '{"a":1}'],
      ["logo.svg", "image/svg+xml; charset=utf-8", FILES["logo.svg"]],
      ["odd%20name%20%C3%A4%252f.txt", "text/plain; charset=utf-8", "odd"],
      ["readme", "application/octet-stream", "no extension"],
      ["empty.txt", "text/plain; charset=utf-8", ""],
    ];
    for (const [path, type, body] of TYPES) {
      const reply = await send(`/p/${slug}/${path}`, { cookie: "share=abc; login=def" });
      assert.equal(reply.status, 200, path);
      assert.equal(reply.headers["content-type"], type, path);
      assert.equal(reply.body.toString(), body, path);
      assert.equal(reply.headers["cache-control"], "public, max-age=0, must-revalidate");
      assertPageHeaders(reply, path);
    }
  });

  it("is redirected to its path with a slash, as are its folders", async () => {
    for (const [path, target] of [
      [`/p/${slug}`, `/p/${slug}/`],
      [`/p/${slug}?a=b`, `/p/${slug}/?a=b`],
      [`/p/${slug}/docs`, `/p/${slug}/docs/`],
      [`/p/${slug}/docs?//evil.example`, `/p/${slug}/docs/?//evil.example`],
    ] as const) {
      const reply = await send(path);
      assert.deepEqual([reply.status, reply.headers.location], [308, target]);
      assertPageHeaders(reply, path);
    }
  });

  it("supports compression, revalidation and ranges, and only GET and HEAD", async () => {
    const path = `/p/${slug}/`;
    const plain = await send(path);
    const zipped = await send(path, { "accept-encoding": "br, gzip" });
    assert.deepEqual([zipped.headers["content-encoding"], zipped.headers.vary], ["gzip", "Accept-Encoding"]);
    assert.equal(gunzipSync(zipped.body).toString(), INDEX);
    assert.ok(zipped.body.byteLength < plain.body.byteLength / 4);
    assert.notEqual(zipped.headers.etag, plain.headers.etag);
    assert.equal(
      (await send(path, { "accept-encoding": "gzip;q=0" })).headers["content-encoding"],
      undefined,
    );
    const revalidated = await send(path, { "if-none-match": `W/${plain.headers.etag}` });
    assert.deepEqual([revalidated.status, revalidated.body.byteLength], [304, 0]);
    assertPageHeaders(revalidated, "304");
    const head = await send(path, { method: "HEAD" });
    assert.deepEqual(
      [head.status, head.body.byteLength, head.headers["content-length"]],
      [200, 0, String(Buffer.byteLength(INDEX))],
    );
    const clip = `/p/${slug}/clip.mp4`;
    const part = await send(clip, { range: "bytes=10-19", "accept-encoding": "gzip" });
    assert.deepEqual([part.status, part.headers["content-range"]], [206, "bytes 10-19/1000"]);
    assert.deepEqual(new Uint8Array(part.body), VIDEO.slice(10, 20));
    assert.equal((await send(clip, { range: "bytes=-5" })).headers["content-range"], "bytes 995-999/1000");
    assert.equal((await send(clip, { range: "bytes=990-" })).body.byteLength, 10);
    assert.equal((await send(clip, { range: "bytes=1000-" })).status, 416);
    for (const range of ["bytes=0-1,5-6", "bytes=9-3", "items=0-1", "bytes=-"])
      assert.equal((await send(clip, { range })).status, 200, range);
    assert.equal((await send(clip, { range: "bytes=0-1", "if-range": '"other"' })).status, 200);
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]) {
      const reply = await send(path, { method });
      assert.deepEqual([reply.status, reply.headers.allow], [405, "GET, HEAD"], method);
      assertPageHeaders(reply, method);
    }
  });

  it("answers paths that lead to no file with a safe 404, in every notation", async () => {
    const PATHS = [
      `/p/`,
      `/p`,
      `/p/unknown/`,
      `/p/Upper/`,
      `/p//${slug}/`,
      `/p/${slug}//index.html`,
      `/p/${slug}/missing`,
      `/p/${slug}/docs/missing.css`,
      `/p/${slug}/../${slug}/index.html`,
      `/p/${slug}/./index.html`,
      `/p/${slug}/%2e%2e/${slug}/index.html`,
      `/p/${slug}/%2E/index.html`,
      `/p/${slug}/docs%2findex.html`,
      `/p/${slug}/docs%5cindex.html`,
      `/p/${slug}/docs\\index.html`,
      `/p/${slug}/%252e%252e/index.html`,
      `/p/${slug}/index.html%00`,
      `/p/${slug}/%0d%0aset-cookie:a`,
      `/p/${slug}/%`,
      `/p/${slug}/%ff`,
      `/p/${slug}/%ed%a0%80`,
      `/p/${slug}/__proto__`,
      `/p/${slug}/constructor`,
      `/p/${slug}/${"a".repeat(5_000)}`,
      `/p/%2e%2e/api/health`,
      `/p/../api/health`,
      `/p/..%2fapi/health`,
      `/p/${slug}%00/`,
    ];
    for (const path of PATHS) {
      const reply = await send(path);
      assert.equal(reply.status, 404, path);
      assert.match(reply.body.toString(), /There is no such page\./, path);
      assertPageHeaders(reply, path);
    }
  });

  it("may have its own 404 page", async () => {
    const { page } = await deployFiles(service, { "index.html": "x", "404.html": "lost?" });
    for (const path of ["a/b", "100%", "sub%2findex.html", "/index.html", "x".repeat(5_000)]) {
      const reply = await send(`/p/${page.slug}/${path}`);
      assert.deepEqual([reply.status, reply.body.toString()], [404, "lost?"], path);
      assertPageHeaders(reply, "404.html");
    }
  });

  it("is not served any more when another page has its slug after it was removed", async () => {
    const first = await deployFiles(service, { "index.html": "old" }, { slug: "reused-slug" });
    assert.equal((await send("/p/reused-slug/")).body.toString(), "old");
    await service.call("POST", "/api/pages/reused-slug/unpublish", {});
    const removed = await service.call("DELETE", `/api/sessions/${first.session.sessionId}`);
    assert.equal(removed.status, 200);
    await deployFiles(service, { "index.html": "new" }, { slug: "reused-slug" });
    const read = async () => (await send("/p/reused-slug/")).body.toString();
    await waitUntil(async () => (await read()) !== "old", "the new page is served");
    assert.equal(await read(), "new");
  });

  it("has files with long names in any script", async () => {
    const name = `${`${"名".repeat(70)}/`.repeat(4)}a.txt`;
    const { page } = await deployFiles(service, {
      "index.html": "x",
      [name]: "long",
      "x.constructor": "own",
    });
    assert.equal(
      (await send(`/p/${page.slug}/${name.split("/").map(encodeURIComponent).join("/")}`)).body.toString(),
      "long",
    );
    const odd = await send(`/p/${page.slug}/x.constructor`);
    assert.deepEqual([odd.status, odd.headers["content-type"]], [200, "application/octet-stream"]);
  });

  it("answers 410 when it is unpublished, and the current version after each deploy and rollback", async () => {
    const { session, page } = await deployFiles(service, { "index.html": "one" });
    const read = async () => {
      const { status, body } = await send(`/p/${page.slug}/`);
      return status === 200 ? body.toString() : status;
    };
    assert.equal(await read(), "one");
    await deployFiles(service, { "index.html": "two" }, {}, session);
    assert.equal(await read(), "two");
    await service.call("POST", `/api/pages/${page.slug}/rollback`, { version: 1 });
    assert.equal(await read(), "one");
    await service.call("POST", `/api/pages/${page.slug}/unpublish`);
    assert.equal(await read(), 410);
    assert.equal((await send(`/p/${page.slug}/style.css`)).status, 410);
    assertPageHeaders(await send(`/p/${page.slug}`), "410");
    await service.call("POST", `/api/pages/${page.slug}/rollback`, { version: 2 });
    assert.equal(await read(), "two");
  });

  it("costs no query while it is cached, and one when its cache entry is older than a second", async (t) => {
    const { db } = service.container.services;
    const select = db.select;
    let queries = 0;
    const counted = (...args: unknown[]) => {
      // Counts only queries for landing pages, because other parts of the service query the database from time to time.
      if (new Error().stack?.includes("lib/publication/landing")) queries += 1;
      return Reflect.apply(select, db, args);
    };
    let now = performance.now();
    t.mock.method(performance, "now", () => now);
    Object.assign(db, { select: counted });
    try {
      for (const path of ["", "app.js"]) await send(`/p/${slug}/${path}`);
      queries = 0;
      for (let answers = 0; answers < 30; answers += 1) await send(`/p/${slug}/app.js`);
      assert.equal(queries, 0);
      now += 1_001;
      for (let answers = 0; answers < 30; answers += 1) await send(`/p/${slug}/app.js`);
      assert.equal(queries, 1);
    } finally {
      Object.assign(db, { select });
    }
  });
});

describe("two processes", () => {
  it("serve each other's deploys and rollbacks, and answer 410 for pages that the other unpublishes", async (t) => {
    const postgres = await startTestPostgres();
    const variables = {
      DATABASE_URL: await createDatabase(postgres.url, "pages"),
      DATABASE_DRIVER: "pg",
      ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
    };
    const first = await openHttpTestService(variables);
    const second = await openHttpTestService(variables);
    t.after(async () => {
      await first.close();
      await second.close();
      await postgres.stop();
    });
    for (const { model } of [first, second]) model.respondWith(() => ({ text: "Done." }));
    const session = await openSession(first);
    await writeFolder(first, session.sessionId, "site", { "index.html": "one" });
    await deploy(first, session, { folder: "site", slug: "shared" });
    const read = async () => {
      const { status, body } = await send("/p/shared/", {}, new URL(second.baseUrl));
      return status === 200 ? body.toString() : status;
    };
    assert.equal(await read(), "one");
    await writeFolder(first, session.sessionId, "site", { "index.html": "two" });
    await deploy(first, session, { folder: "site" });
    await waitUntil(async () => (await read()) === "two", "the other process serves it");
    await first.call("POST", "/api/pages/shared/rollback", { version: 1 });
    await waitUntil(async () => (await read()) === "one", "the other process serves it");
    await first.call("POST", "/api/pages/shared/unpublish");
    await waitUntil(async () => (await read()) === 410, "the other process answers 410");
  });
});

describe("PUBLIC_PAGES_ORIGIN", () => {
  it("serves only pages on its host, and the main origin redirects to it", async (t) => {
    const { port } = new URL(service.baseUrl);
    const free = Number(port) + 1;
    const split = await openHttpTestService({ PUBLIC_PAGES_ORIGIN: `http://pages.test:${free}` });
    t.after(() => split.close());
    const main = new URL(split.baseUrl);
    const theirs = { host: `pages.test:${free}` };
    const { page } = await deployFiles(split, { "index.html": "split" }, { slug: "split" });
    assert.equal(page.url, `http://pages.test:${free}/p/split/`);
    const served = await send("/p/split/", theirs, main);
    assert.deepEqual([served.status, served.body.toString()], [200, "split"]);
    assertPageHeaders(served, "their host");
    assert.equal((await send("/p/split", { host: theirs.host.toUpperCase() }, main)).status, 308);
    for (const path of [
      "/",
      "/api/health",
      "/api/pages",
      "/_next/x.js",
      "/s/ses_a",
      "/v/demo.js",
      "/demo",
      "/login?token=x",
      "//p/split/",
    ]) {
      const reply = await send(path, { ...theirs, cookie: "login=x" }, main);
      assert.deepEqual([reply.status, reply.headers["set-cookie"]], [404, undefined], path);
      assertPageHeaders(reply, path);
    }
    assert.equal((await send("/api/session", { ...theirs, method: "POST" }, main)).status, 405);
    const moved = await send("/p/split/a%20b?c=d", {}, main);
    assert.deepEqual(
      [moved.status, moved.headers.location],
      [308, `http://pages.test:${free}/p/split/a%20b?c=d`],
    );
    assert.equal((await send("/p/split/", { host: "rebound.example" }, main)).status, 421);
    assert.equal((await send("/api/health", {}, main)).status, 200);
  });
});
