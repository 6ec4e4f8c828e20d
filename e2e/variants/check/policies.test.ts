import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startSite } from "#lib/tools/browser/test-fixture.ts";
import { findBlockingPolicies, forbidsScripts, splitPolicies } from "#lib/variant/check/content-policy.ts";
import { type CheckBench, documentOf, html, openBench, summarize } from "./check-testing.ts";

let bench: CheckBench;
let service: Awaited<ReturnType<typeof startSite>>;
before(async () => {
  const script = { headers: { "content-type": "text/javascript" }, body: "window.hasRun = true;" };
  [bench, service] = await Promise.all([openBench(), startSite({ "/v/pub_1.js": script })]);
});
after(() => Promise.all([bench.close(), service.close()]));

test("the verdict on a policy is the same as Chromium's", async () => {
  const { url: origin, port } = service;
  const policies = [
    "script-src 'self'",
    "script-src 'none'",
    "script-src",
    "script-src *",
    "script-src http:",
    "script-src https:",
    `script-src ${origin}`,
    `script-src ${origin}/v/`,
    `script-src ${origin}/w/`,
    `script-src 127.0.0.1:${port}`,
    "script-src 127.0.0.1",
    "script-src 127.0.0.1:*",
    `script-src ws://127.0.0.1:${port}`,
    `script-src https://127.0.0.1:${port}`,
    "script-src *.example.com",
    "default-src 'self'",
    `default-src 'self' ${origin}`,
    `default-src 'none'; script-src ${origin}`,
    `script-src 'none'; script-src-elem ${origin}`,
    `script-src ${origin}; script-src-elem 'self'`,
    `script-src 'strict-dynamic' 'nonce-abc' ${origin}`,
    `script-src 'nonce-abc' ${origin}`,
    `script-src 'unsafe-inline' 'unsafe-eval'`,
    `script-src ${origin}, script-src 'self'`,
    `SCRIPT-SRC ${origin}; script-src 'none'`,
    "img-src 'none'; style-src 'none'",
    "require-trusted-types-for 'script'",
    "sandbox allow-same-origin",
    "sandbox allow-scripts",
  ];
  const page = bench.browser.live.page();
  const verdicts = [];
  for (const [index, policy] of policies.entries()) {
    const url = bench.serve(`/policy-${index}`, (_request, response) => {
      response.writeHead(200, { "content-type": "text/html", "content-security-policy": policy });
      response.end(html(`<h1>Policy</h1><script src="${origin}/v/pub_1.js"></script>`));
    });
    await page.goto(url);
    const hasRun = await page.evaluate("window.hasRun === true");
    const split = splitPolicies(policy);
    const blocking = findBlockingPolicies(split, new URL(url), new URL(`${origin}/v/pub_1.js`));
    const isAllowed = blocking.length === 0 && !forbidsScripts(split);
    verdicts.push({ policy, runs: hasRun, isPredicted: isAllowed === hasRun });
  }
  assert.deepEqual(
    verdicts.filter(({ isPredicted }) => !isPredicted),
    [],
  );
  assert.ok(new Set(verdicts.map(({ runs }) => runs)).size === 2);
});

test("a policy that blocks the published script, in headers or in the document, is a warning that says what to add", async () => {
  const meta = `<meta http-equiv="Content-Security-Policy" content="script-src 'self' 'unsafe-inline' https://service.example">`;
  const strict = bench.serve("/strict", (_request, response) => {
    response.writeHead(200, {
      "content-type": "text/html",
      "content-security-policy": "default-src 'self'; require-trusted-types-for 'script'",
    });
    response.end(html("<main><h1>Shop</h1></main>", meta.replace("https://service.example", "")));
  });
  const open = bench.serve("/open", html("<main><h1>Shop</h1></main>", meta));
  const document = (url: string) =>
    documentOf(url, [{ id: "c1", op: "insert", selector: "h1", position: "after", html: "<p>Note</p>" }], {
      css: "h1 { color: #004080 }",
    });
  const [blocked, allowed] = await Promise.all([bench.check(document(strict)), bench.check(document(open))]);
  assert.deepEqual(summarize(blocked), ["warn csp_blocks_script -", "warn csp_blocks_script -"]);
  assert.equal(blocked.status, "warn");
  const texts = blocked.findings.map(({ message }) => message);
  assert.match(texts[0] ?? "", /add the directive script-src 'self' https:\/\/service\.example/);
  assert.match(texts[1] ?? "", /add https:\/\/service\.example to script-src/);
  assert.deepEqual(allowed.findings, []);
});
