import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { waitFor } from "#lib/browser/testing.ts";
import type { CheckContext, CheckTarget, ScriptTag } from "#lib/variant/check/load/check-context.ts";
import { CHECK_LIMITS } from "#lib/variant/check/load/check-limits.ts";
import { type PageLoad, withLoad } from "#lib/variant/check/load/open-load.ts";
import { tagUrl } from "#lib/variant/check/load/serve-tag.ts";
import { type CheckBench, html, openBench } from "./check-testing.ts";

let bench: CheckBench;
before(async () => {
  bench = await openBench();
});
after(() => bench.close());

const SCRIPT_URL = tagUrl("https://service.example");
/** Stands for the script of a variant. Notes how far the page was, and from which element the script came. */
const SCRIPT = `(window.ran ??= []).push([document.readyState, document.currentScript?.src ?? "injected"]);`;

/** Opens a page as the check opens it with the variant. */
function open<Result>(
  url: string,
  work: (load: PageLoad) => Promise<Result>,
  tag: ScriptTag = "async",
  untagged = new Map<string, string>(),
): Promise<Result> {
  const check: CheckContext = {
    live: bench.browser.live,
    storage: { cookies: [], origins: [] },
    variant: "main",
    script: SCRIPT,
    tag,
    tagUrl: SCRIPT_URL,
    untagged,
    allowSubmits: false,
    clicks: [],
    limits: CHECK_LIMITS,
    signal: new AbortController().signal,
  };
  const target: CheckTarget = {
    url,
    viewport: "desktop",
    open: [],
    changes: [],
    css: [],
    prefixes: [],
    late: [],
    hasScript: false,
    isHere: () => true,
    idsAt: () => [],
  };
  return withLoad(check, target, true, work);
}

const readRuns = async (load: PageLoad): Promise<[readyState: string, source: string][]> =>
  JSON.parse(String(await load.evaluateInPage("JSON.stringify(window.ran ?? [])")));

const untilRun = (load: PageLoad) =>
  waitFor(async () => {
    const runs = await readRuns(load);
    return runs.length > 0 && runs;
  }, "the script runs");

/** Facts about a document that the tag must not change. */
const FACTS = `JSON.stringify([document.compatMode, document.characterSet, document.querySelector("h1")?.textContent, document.head.innerHTML.replace(/<script[^]*?script>/, ""), document.baseURI, document.cookie, document.body.localName])`;

const HEAD = '<meta charset="utf-8"><title>A &amp; <b></title>';
type Answer = { headers?: Record<string, string>; body: string | Buffer };
const DOCUMENTS: Record<string, Answer> = {
  plain: { body: `<!doctype html>\n<html>\n<head>\n${HEAD}\n<link rel="x"></head><body><h1>\u00dcber</h1>` },
  compressed: { headers: { "content-encoding": "gzip" }, body: gzipSync(html("<h1>\u00dcber</h1>")) },
  mark: { headers: { "content-type": "text/html" }, body: "\ufeff<!doctype html>\n<h1>\u00dcber</h1>" },
  "old encoding": {
    headers: { "content-type": "text/html" },
    body: Buffer.from('<!doctype html><head><meta charset="windows-1252"><h1>\u00dcber</h1>', "latin1"),
  },
  "no head": { body: "<!doctype html>\n\n<!-- x -->\n<h1>\u00dcber</h1>" },
  "only text": { body: "\u00dcber" },
  quirks: { body: "<html><body>\n<h1>\u00dcber</h1></body></html>" },
  frames: { body: "<!doctype html><html><frameset></frameset></html>" },
  base: { body: `<!doctype html><base href="/other/"><h1>\u00dcber</h1>` },
  cookie: { headers: { "set-cookie": "a=b" }, body: html("<h1>\u00dcber</h1>") },
  cached: { headers: { "cache-control": "max-age=600", etag: '"1"' }, body: html("<h1>\u00dcber</h1>") },
  policy: {
    headers: {
      "content-security-policy": "script-src https://service.example/v/; require-trusted-types-for 'script'",
    },
    body: html(
      "<h1>\u00dcber</h1>",
      `<meta http-equiv="content-security-policy" content="script-src https:">`,
    ),
  },
  // The tag is before this policy, so the policy does not apply to it.
  "later policy": {
    headers: { "cross-origin-embedder-policy": "require-corp" },
    body: html(
      "<h1>\u00dcber</h1>",
      `<link rel="x"><meta http-equiv="Content-Security-Policy" content="script-src 'self'">`,
    ),
  },
};

describe("the check serves a document with the published tag", () => {
  for (const [name, { headers, body }] of Object.entries(DOCUMENTS))
    test(`${name}: the document is the same, and the script comes from its address`, async () => {
      const url = bench.serve(`/${name.replace(" ", "-")}`, (_request, response) => {
        response.writeHead(200, { "content-type": "text/html; charset=utf-8", ...headers }).end(body);
      });
      const { page, context } = bench.browser.live;
      await context.clearCookies();
      await page().goto(url);
      const expected = await page().evaluate(FACTS);
      await open(url, async (load) => {
        assert.deepEqual(
          (await untilRun(load)).map(([, source]) => source),
          [SCRIPT_URL],
        );
        assert.deepEqual(JSON.parse(String(await load.evaluateInPage(FACTS))), JSON.parse(String(expected)));
        assert.equal(load.tagGap(), undefined);
      });
    });

  test("a redirect is followed, and a tag without async holds the parser", async () => {
    const url = bench.serve("/target", html("<h1>New</h1>"));
    const from = bench.serve("/from", (_request, response) => {
      response.writeHead(302, { location: url }).end();
    });
    await open(
      from,
      async (load) => {
        assert.deepEqual(await readRuns(load), [["loading", SCRIPT_URL]]);
        assert.equal(await load.evaluateInPage("document.head.querySelectorAll('script').length"), 1);
      },
      "blocking",
    );
  });

  test("documents of frames, resources and requests of the page stay as they are", async () => {
    bench.serve("/frame", html("<h2>Frame</h2>"));
    bench.serve("/data", html("<h2>Data</h2>"));
    const url = bench.serve("/outer", html('<h1>Outer</h1><iframe src="/frame" title="Frame"></iframe>'));
    await open(url, async (load) => {
      await untilRun(load);
      const frame = "document.querySelector('iframe').contentDocument.scripts.length";
      await waitFor(async () => (await load.evaluateInPage(frame)) === 0, "the frame is loaded");
      const data = await load.page.evaluate(async () => (await fetch("/data")).text());
      assert.ok(data.includes("Data") && !data.includes(SCRIPT_URL));
    });
  });
});

describe("if a document cannot have the tag, the script is injected, which the report says", () => {
  const expectInjected = async (url: string, reason: RegExp, tag: ScriptTag = "async") =>
    open(
      url,
      async (load) => {
        assert.deepEqual(
          (await untilRun(load)).map(([, source]) => source),
          ["injected"],
        );
        assert.match(load.tagGap() ?? "", reason);
      },
      tag,
    );

  test("a policy that blocks it, XHTML, wide characters, a late declaration of the encoding", async () => {
    const serve = (path: string, type: string, body: string | Buffer, headers = {}) =>
      bench.serve(path, (_request, response) => {
        response.writeHead(200, { "content-type": type, ...headers }).end(body);
      });
    const strict = { "content-security-policy": "script-src 'strict-dynamic' 'nonce-abc'" };
    await expectInjected(serve("/strict", "text/html", html("<h1>A</h1>"), strict), /script-src.*blocks/);
    const meta = '<meta http-equiv="Content-Security-Policy" content="script-src \'self\'">';
    await expectInjected(serve("/meta", "text/html", html("<h1>A</h1>", meta)), /script-src.*blocks/);
    const xhtml = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>A</title></head><body/></html>';
    await expectInjected(serve("/xhtml", "application/xhtml+xml", xhtml), /no HTML/, "blocking");
    const untyped = bench.serve("/untyped", (_request, response) => void response.end(html("<h1>A</h1>")));
    await expectInjected(untyped, /has no Content-Type/);
    const wide = Buffer.from("\ufeff<!doctype html><h1>A</h1>", "utf16le");
    await expectInjected(serve("/wide", "text/html", wide), /two bytes/);
    const late = `<!doctype html><head><style>/*${" ".repeat(950)}*/</style><meta charset="utf-8">`;
    await expectInjected(serve("/late", "text/html", late), /encoding/);
  });

  test("a document that arrives in parts is not held back, and is known from then on", async () => {
    const responses: ServerResponse[] = [];
    const url = bench.serve("/parts", (_request, response) => {
      responses.push(response);
      // The page itself asks for the rest, so a document that is held back never ends.
      const start = html("<h1>Start</h1><script>fetch('/end')</script>").replace("</body></html>", "");
      response.writeHead(200, { "content-type": "text/html" }).write(start);
    });
    bench.serve("/end", (_request, response) => {
      for (const each of responses) each.end("<p id='end'>End</p>");
      response.end();
    });
    const untagged = new Map<string, string>();
    for (const expected of [2, 3]) {
      await open(
        url,
        async (load) => {
          assert.deepEqual(
            (await untilRun(load)).map(([, source]) => source),
            ["injected"],
          );
          assert.match(load.tagGap() ?? "", /in parts/);
          assert.equal(await load.evaluateInPage("document.querySelectorAll('#end').length"), 1);
        },
        "async",
        untagged,
      );
      assert.equal(responses.length, expected);
    }
  });

  test("a document that a service worker serves", async () => {
    bench.serve("/worker.js", (_request, response) => {
      response.writeHead(200, { "content-type": "text/javascript" });
      response.end(`addEventListener("install", () => skipWaiting());
        addEventListener("activate", (event) => event.waitUntil(clients.claim()));
        addEventListener("fetch", (event) => {
          if (event.request.mode === "navigate")
            event.respondWith(new Response("<!doctype html><h1>Worker</h1>", { headers: { "content-type": "text/html" } }));
        });`);
    });
    const register = `<script>navigator.serviceWorker.register("/worker.js").then(() => navigator.serviceWorker.ready).then(() => { if (navigator.serviceWorker.controller) location.reload(); else navigator.serviceWorker.oncontrollerchange = () => location.reload(); })</script>`;
    const url = bench.serve("/served", html(`<h1>Network</h1>${register}`));
    await open(url, async (load) => {
      await load.page.waitForFunction(() => document.querySelector("h1")?.textContent === "Worker");
      assert.deepEqual(
        (await untilRun(load)).map(([, source]) => source),
        ["injected"],
      );
      assert.match(load.tagGap() ?? "", /service worker/);
    });
  });
});
