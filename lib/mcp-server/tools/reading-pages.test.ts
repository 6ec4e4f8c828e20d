import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import { readNetworkAllow } from "#lib/net/address/network-allow.ts";
import { createGuardedFetch, type GuardedFetch } from "#lib/net/fetch/guarded-fetch.ts";
import { startSite } from "#lib/tools/browser/test-fixture.ts";
import { createPageThreads } from "./page-thread.ts";
import { readMarkdown } from "./read-markdown.ts";
import { readStructuredData } from "./read-structured-data.ts";
import { mcpCall, mcpTextOf } from "./testing.ts";

const paragraph = `<p>${"The kettle whistled, and nobody in the quiet harbour house came to see why. ".repeat(6)}</p>`;

const ARTICLE = `<!doctype html><html lang="en"><head><title>Kettles | The Daily Steam</title>
<meta name="author" content="Ada Example"></head><body>
<nav><a href="/a">Home</a> <a href="/b">Subscribe now</a></nav>
<article><h1>Kettles</h1>${paragraph}
<h2>Prices</h2><table><thead><tr><th>Model</th><th>Price</th></tr></thead><tbody><tr><td>Tin</td><td>9</td></tr></tbody></table>
<p>See <a href="/more?x=1">more</a> and <a href="javascript:alert(1)">click</a>.</p><img src="pot.png" alt="A pot">
<pre><code>boil()</code></pre><ul><li>one</li><li>two</li></ul>${paragraph}${paragraph}</article>
<script>window.secret = "never shown"</script><footer>Imprint</footer></body></html>`;

const PRODUCT = `<!doctype html><html lang="de"><head><title>Tin kettle</title>
<meta name="description" content="Boils."><link rel="canonical" href="/kettle">
<meta property="og:title" content="Tin kettle"><meta property="og:image" content="/a.png"><meta property="og:image" content="/b.png">
<meta name="twitter:card" content="summary">
<script type="application/ld+json">{"@type":"Product","name":"Tin kettle","__proto__":{"x":1}}</script>
<script type="application/ld+json">{ broken </script></head><body>
<div itemscope itemtype="https://schema.org/Offer" itemref="more"><span itemprop="name">Kettle
</span><a itemprop="url" href="/buy">Buy</a><div itemprop="seller" itemscope><meta itemprop="legalName" content="Steam Ltd"></div></div>
<p id="more"><time itemprop="validThrough" datetime="2027-01-01">New Year</time></p></body></html>`;

let site: Awaited<ReturnType<typeof startSite>>;
let fetch: GuardedFetch;
const threads = createPageThreads();

before(async () => {
  site = await startSite({
    "/article": ARTICLE,
    "/product": PRODUCT,
    "/text": { headers: { "content-type": "text/plain" }, body: "plain" },
    "/short":
      "<!doctype html><html lang=fr><title>Short</title><meta name=description content=Brief><p>One<p>Two<table><tr><td>a<td>b</table>",
    "/deep": "<div>".repeat(20_000),
    "/wide": "<br>".repeat(60_001),
  });
  fetch = createGuardedFetch(createAddressRule({ allow: readNetworkAllow(`127.0.0.1:${site.port}`) }));
});
after(async () => {
  await fetch.close();
  await site.close();
});

test("a page is read as Markdown: only its article, with tables, code and absolute addresses", async () => {
  const { call, reports } = mcpCall();
  const text = mcpTextOf(
    await readMarkdown({ fetch, threads }).execute({ url: `${site.url}/article` }, call),
  );
  assert.match(text, /^Title: Kettles/);
  assert.match(text, new RegExp(`Address: ${site.url}/article`));
  assert.match(text, /## Prices/);
  assert.match(text, /\| Model \| Price \|\n\| --- \| --- \|\n\| Tin \| 9 +\|/);
  assert.match(text, new RegExp(`\\[more\\]\\(${site.url}/more\\?x=1\\)`));
  assert.match(text, new RegExp(`!\\[A pot\\]\\(${site.url}/pot\\.png\\)`));
  assert.match(text, /```\nboil\(\)\n```/);
  assert.match(text, /-\s+one\n-\s+two/);
  assert.doesNotMatch(text, /javascript:|never shown|Subscribe now|Imprint/);
  assert.equal(reports.length, 2);
});

test("scope page includes everything, and offset continues a long page", async () => {
  const { call } = mcpCall();
  const tool = readMarkdown({ fetch, threads });
  const url = `${site.url}/article`;
  const whole = mcpTextOf(await tool.execute({ url, scope: "page" }, call));
  assert.match(whole, /Subscribe now[\s\S]*Imprint/);
  const first = mcpTextOf(await tool.execute({ url, maxCharacters: 100 }, call));
  assert.match(first, /\[characters 0 to 100 of \d+; continue with offset 100\]$/);
  const second = mcpTextOf(await tool.execute({ url, offset: 100, maxCharacters: 50 }, call));
  assert.match(second, /\[characters 100 to 150 of/);
});

test("implied elements are added, as in a browser", async () => {
  const { call } = mcpCall();
  const input = { url: `${site.url}/short` };
  const text = mcpTextOf(await readMarkdown({ fetch, threads }).execute({ ...input, scope: "page" }, call));
  assert.match(text, /^Title: Short\n[\s\S]*\n\nOne\n\nTwo\n/);
  const { structuredContent } = await readStructuredData({ fetch, threads }).execute(input, call);
  const { title, description, language } = { ...structuredContent };
  assert.deepEqual(
    { title, description, language },
    { title: "Short", description: "Brief", language: "fr" },
  );
});

test("structured data has JSON-LD, microdata, Open Graph, Twitter cards and the head", async () => {
  const { call } = mcpCall();
  const tool = readStructuredData({ fetch, threads });
  const { structuredContent, isError } = await tool.execute({ url: `${site.url}/product` }, call);
  assert.notEqual(isError, true);
  assert.ok(tool.output?.safeParse(structuredContent).success);
  const { jsonLdErrors, ...found } = { jsonLdErrors: [] as string[], ...structuredContent };
  assert.equal(jsonLdErrors.length, 1);
  assert.deepEqual(JSON.parse(JSON.stringify(found)), {
    url: `${site.url}/product`,
    title: "Tin kettle",
    description: "Boils.",
    canonicalUrl: `${site.url}/kettle`,
    language: "de",
    jsonLd: [JSON.parse('{"@type":"Product","name":"Tin kettle","__proto__":{"x":1}}')],
    microdata: [
      {
        type: ["https://schema.org/Offer"],
        properties: {
          name: ["Kettle"],
          url: [`${site.url}/buy`],
          seller: [{ type: [], properties: { legalName: ["Steam Ltd"] } }],
          validThrough: ["2027-01-01"],
        },
      },
    ],
    openGraph: { "og:title": ["Tin kettle"], "og:image": ["/a.png", "/b.png"] },
    twitter: { "twitter:card": ["summary"] },
    leftOut: [],
  });
});

test("a resource that is not a page, is missing or is refused is an error with the reason", async () => {
  const { call } = mcpCall();
  const tool = readMarkdown({ fetch, threads });
  const rows: [string, RegExp][] = [
    [`${site.url}/text`, /is no web page, but text\/plain/],
    [`${site.url}/missing`, /answered 404/],
    ["http://127.0.0.2/", /could not be fetched/],
    ["http://169.254.169.254/latest/meta-data", /could not be fetched/],
    ["http://[::ffff:10.0.0.1]/", /could not be fetched/],
  ];
  for (const [url, sentence] of rows) {
    const result = await tool.execute({ url }, call);
    assert.equal(result.isError, true, url);
    assert.match(mcpTextOf(result), sentence, url);
  }
});

test("a page with too deep nesting or too many elements is an error, and blocks no other call", async () => {
  const { call } = mcpCall();
  const tool = readMarkdown({ fetch, threads: createPageThreads(1_000) });
  await assert.rejects(tool.execute({ url: `${site.url}/deep` }, call), /nested too deeply|too long/);
  assert.match(mcpTextOf(await tool.execute({ url: `${site.url}/wide` }, call)), /more than 60,000 elements/);
});

test("a job that takes too long is ended with its thread", async () => {
  const impatient = createPageThreads(1);
  const job = { kind: "markdown" as const, html: ARTICLE, url: site.url, scope: "article" as const };
  await assert.rejects(impatient(job, new AbortController().signal), /too long/);
});
