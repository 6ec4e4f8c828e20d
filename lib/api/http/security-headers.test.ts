import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { makePagePolicy } from "./page-policy.ts";
import { type AnswerKind, answerKindOf, securityHeaders } from "./security-headers.ts";

const headersOf = (kind: AnswerKind, isHttps = false) =>
  new Headers([...securityHeaders(kind, isHttps)].map((pair) => [...pair]));
const KINDS: AnswerKind[] = ["page", "data", "demo", "landing-page"];

describe("security headers", () => {
  test("forbid content sniffing on every answer, and send no path to other sites", () => {
    for (const kind of KINDS) {
      assert.equal(headersOf(kind).get("x-content-type-options"), "nosniff");
      assert.match(
        headersOf(kind).get("referrer-policy") ?? "",
        /^(no-referrer|strict-origin-when-cross-origin)$/,
      );
    }
  });

  test("require https for a year, including subdomains, if BASE_URL is https", () => {
    for (const kind of KINDS) {
      assert.equal(headersOf(kind).get("strict-transport-security"), null);
      assert.equal(
        headersOf(kind, true).get("strict-transport-security"),
        "max-age=31536000; includeSubDomains",
      );
    }
  });

  test("let other origins load only the demo shop and landing pages", () => {
    const policies = KINDS.map((kind) => headersOf(kind).get("cross-origin-resource-policy"));
    assert.deepEqual(policies, ["same-origin", "same-origin", "cross-origin", "cross-origin"]);
  });

  test("separate only the service's own pages from windows of other origins", () => {
    // The other kinds have no opener policy. Some of their responses are sandboxed, for example landing pages, and
    // browsers refuse to show a sandboxed response with an opener policy.
    const policies = KINDS.map((kind) => headersOf(kind).get("cross-origin-opener-policy"));
    assert.deepEqual(policies, ["same-origin", null, null, null]);
  });

  test("deny camera, microphone, location and devices to every page", () => {
    for (const kind of ["page", "demo", "landing-page"] as const)
      for (const feature of ["camera", "microphone", "geolocation", "usb", "payment"])
        assert.match(
          headersOf(kind).get("permissions-policy") ?? "",
          new RegExp(`\\b${feature}=\\(\\)`),
          kind,
        );
    assert.doesNotMatch(headersOf("landing-page").get("permissions-policy") ?? "", /fullscreen|autoplay/);
    // The policy must not deny the clipboard, because the pages have buttons that copy links.
    assert.doesNotMatch(headersOf("page").get("permissions-policy") ?? "", /clipboard/);
  });

  test("of data forbid all content of a document", () => {
    const policy = headersOf("data").get("content-security-policy") ?? "";
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
  });

  test("depend on the path", () => {
    const kinds = [
      "/api/nothing",
      "/v/x",
      "/_next/static/x.js",
      "/demo",
      "/demo/shop.css",
      "/",
      "/s/ses_a",
      "/demos",
    ];
    assert.deepEqual(kinds.map(answerKindOf), [
      "data",
      "data",
      "data",
      "demo",
      "demo",
      "page",
      "page",
      "page",
    ]);
  });
});

describe("the content policy of the service's pages", () => {
  const directivesOf = (path: string, isDev = false) =>
    makePagePolicy(new URL(path, "http://service.example"), isDev, []).policy.split("; ");

  test("allows no inline style and no inline script without the nonce of the answer", () => {
    for (const path of ["/", "/docs", "/s/ses_a", "/s/ses_a/live"]) {
      const { policy, nonce } = makePagePolicy(new URL(path, "http://service.example"), false, []);
      assert.doesNotMatch(policy, /unsafe/);
      assert.ok(policy.split("; ").includes(`style-src 'self' 'nonce-${nonce}'`));
      assert.ok(policy.includes(`script-src 'self' 'nonce-${nonce}' 'strict-dynamic'`));
    }
  });

  test("has a different nonce each time", () => {
    const nonces = [1, 2, 3].map(() => makePagePolicy(new URL("http://service.example/"), false, []).nonce);
    assert.equal(new Set(nonces).size, 3);
  });

  test("allows inline styles in development, where Next inserts them", () => {
    assert.ok(directivesOf("/", true).includes("style-src 'self' 'unsafe-inline'"));
  });

  test("lets the allowed origins frame the pages of frames, and no others", () => {
    const ancestorsOf = (path: string, origins: string[]) =>
      makePagePolicy(new URL(path, "http://service.example"), false, origins)
        .policy.split("; ")
        .find((directive) => directive.startsWith("frame-ancestors"));
    const origins = ["https://a.example", "https://b.example"];
    assert.equal(ancestorsOf("/embed/ses_a", origins), "frame-ancestors https://a.example https://b.example");
    assert.equal(ancestorsOf("/embed/ses_a", []), "frame-ancestors 'none'");
    for (const path of ["/", "/s/ses_a", "/s/ses_a/live", "/embedded", "/docs", "/login"])
      assert.equal(ancestorsOf(path, origins), "frame-ancestors 'none'", path);
    assert.equal(answerKindOf("/embed/ses_a"), "frame");
  });

  test("forbids frames, plugins and another base", () => {
    const directives = directivesOf("/s/ses_a");
    for (const directive of [
      "frame-ancestors 'none'",
      "object-src 'none'",
      "base-uri 'none'",
      "form-action 'self'",
    ])
      assert.ok(directives.includes(directive), directive);
  });
});
