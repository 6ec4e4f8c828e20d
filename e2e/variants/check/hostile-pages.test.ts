import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { waitUntil } from "#e2e/service/testing.ts";
import type { CheckLimits } from "#lib/variant/check/load/check-limits.ts";
import { type CheckBench, documentOf, html, openBench, summarize } from "./check-testing.ts";

/** Short limits, for pages that never respond. */
const SHORT = { loadMs: 1_000, answerMs: 1_000, applyMs: 500 };

const countContexts = () => bench.browser.live.browser.contexts().length;

let bench: CheckBench;
let contexts: number;
before(async () => {
  bench = await openBench();
  contexts = countContexts();
});
after(() => bench.close());
// Waits, because a check may end before the browser has opened a context for it. Such a context is closed as soon as it
// has opened.
afterEach(() => waitUntil(() => countContexts() === contexts, "every context of a check is closed"));

const setTitle = (url: string, rest = {}) =>
  documentOf(url, [{ id: "c1", op: "setText", selector: "h1", text: "Hi" }], rest);

describe("a page that cannot be examined is a finding", () => {
  type Case = { page: Parameters<CheckBench["serve"]>[1]; message: RegExp; limits?: Partial<CheckLimits> };
  const cases: Record<string, Case> = {
    "a server error": {
      page: (_request, response) =>
        response.writeHead(500, { "content-type": "text/html" }).end("<h1>Oops</h1>"),
      message: /answered with the status 500/,
    },
    "a question for a password": {
      page: (_request, response) =>
        response.writeHead(401, { "www-authenticate": 'Basic realm="Shop"' }).end("<h1>Who?</h1>"),
      message: /asks for a user name and a password/,
    },
    "no answer": { page: () => {}, message: /did not answer within 1 s/, limits: SHORT },
    "a closed connection": {
      page: (request) => void request.socket.destroy(),
      message: /could not be opened/,
    },
    "a download": {
      page: (_request, response) =>
        response.writeHead(200, { "content-disposition": "attachment; filename=a.bin" }).end("bytes"),
      message: /download/,
    },
    "an endless loop": {
      page: html("<h1>Shop</h1><script>for (;;);</script>"),
      message: /did not answer within/,
      limits: SHORT,
    },
    "a redirect elsewhere": {
      page: (_request, response) => response.writeHead(302, { location: "/login" }).end(),
      message: /leads to .*\/login/,
    },
    "a page that navigates elsewhere": {
      page: html("<h1>Shop</h1><script>setTimeout(() => { location.href = '/login' }, 100)</script>"),
      message: /leads to .*\/login/,
    },
    "a page that reloads endlessly": {
      page: html("<h1>Shop</h1><script>setTimeout(() => location.reload(), 30)</script>"),
      message: /keeps loading other documents/,
    },
  };
  for (const [name, { page, message, limits }] of Object.entries(cases))
    test(name, async () => {
      bench.serve("/login", html("<h1>Log in</h1>"));
      const path = `/${name.replaceAll(" ", "-")}`;
      const report = await bench.check(setTitle(bench.serve(path, page)), {
        // By default long, because on a busy machine the documents of a page load slowly.
        limits: { ...SHORT, answerMs: 15_000, ...limits },
      });
      assert.deepEqual(summarize(report), ["fail page_failed -"]);
      assert.match(report.findings[0]?.message ?? "", message);
      assert.equal(report.status, "fail");
      assert.deepEqual(report.pages, []);
    });

  test("a script of the variant that never ends", async () => {
    const url = bench.serve("/calm", html("<main><h1>Shop</h1></main>"));
    const report = await bench.check(setTitle(url, { js: "for (;;);" }), { limits: SHORT });
    assert.deepEqual(summarize(report), ["fail page_failed -"]);
  });
});

test("dialogs, popups, downloads and permission requests do not block a check", async () => {
  const url = bench.serve(
    "/loud",
    html(`<main><h1>Shop</h1></main><script>
      alert("one"); confirm("two"); prompt("three");
      for (let i = 0; i < 3; i++) open("/login");
      const link = document.createElement("a"); link.href = "data:application/octet-stream,x"; link.download = "x"; link.click();
      navigator.geolocation.getCurrentPosition(() => {}, () => {});
      addEventListener("beforeunload", (event) => event.preventDefault());
    </script>`),
  );
  const report = await bench.check(setTitle(url));
  assert.deepEqual(report.findings, []);
});

test("a stopped check rejects, and a check that times out lists what it did not examine", async () => {
  const url = bench.serve("/slow", () => {});
  const stop = new AbortController();
  const stopped = bench.check(setTitle(url), {
    signal: stop.signal,
    onProgress: () => setImmediate(() => stop.abort(new Error("stopped by a person"))),
  });
  await assert.rejects(stopped, /stopped by a person/);

  const timedOut = await bench.check(setTitle(url), {
    viewports: ["desktop", "phone"],
    limits: { checkMs: 700 },
  });
  assert.deepEqual(
    timedOut.findings.map(({ code, viewport }) => `${code} ${viewport}`),
    ["page_failed desktop", "page_failed phone"],
  );
  assert.match(timedOut.findings[1]?.message ?? "", /not examined: a check may take 0.7 s/);
});

test("pages open with the cookies and the local storage of the live browser", async () => {
  const url = bench.serve("/account", (request, response) => {
    const isSignedIn = /session=known/.test(request.headers.cookie ?? "");
    response.writeHead(isSignedIn ? 200 : 403, { "content-type": "text/html" });
    response.end(
      html(
        '<main><h1>Account</h1><div id="app"></div></main><script>if (localStorage.plan === "gold") app.innerHTML = "<p id=gold>Gold</p>"</script>',
      ),
    );
  });
  const document = documentOf(url, [{ id: "c1", op: "setText", selector: "#gold", text: "Platinum" }]);
  const { live } = bench.browser;
  const signedOut = await bench.check(document);
  assert.deepEqual(summarize(signedOut), ["fail page_failed -"]);

  await live.context.addCookies([{ name: "session", value: "known", url: bench.origin }]);
  await live.page().goto(url);
  await live.page().evaluate(() => localStorage.setItem("plan", "gold"));
  const opened: string[] = [];
  live.context.on("page", (page) => opened.push(page.url()));
  const signedIn = await bench.check(document);
  assert.deepEqual(signedIn.findings, []);
  assert.deepEqual(opened, [], "the live browser shows no page of the check");
});

describe("fields and images that hide members of their form and of the document", () => {
  const page = (names: string[]) =>
    html(
      `<main><h1>Book</h1><form id="booking" style="padding: 4px"><p class="hint">Two guests</p>${names
        .map((name) => `<label>${name} <input name="${name}"></label>`)
        .join("")}</form><img name="querySelector" alt=""><img name="body" alt=""></main>`,
    );
  const changes: Parameters<typeof documentOf>[1] = [
    { id: "c1", op: "setAttribute", selector: "#booking", name: "data-kind", value: "new" },
    { id: "c2", op: "setStyle", selector: "#booking", style: { "padding-top": "9px" } },
    { id: "c3", op: "insert", selector: "#booking", position: "start", html: "<p>Children are welcome</p>" },
    { id: "c4", op: "setText", selector: "#booking > .hint", text: "Three guests" },
  ];

  test("do not disturb the check", async () => {
    const names = ["children", "style", "closest", "matches", "id", "name", "parentElement", "textContent"];
    const url = bench.serve("/booking", page(names));
    const report = await bench.check(documentOf(url, changes));
    assert.deepEqual(report.findings, []);
    assert.deepEqual(report.notes, []);
  });

  test("are named in a note if the accessibility rules cannot read the page", async () => {
    const url = bench.serve("/booking-node", page(["nodeName", "getAttribute", "childNodes"]));
    const report = await bench.check(documentOf(url, changes));
    assert.deepEqual(report.findings, []);
    assert.match(
      report.notes.join(),
      /\(desktop\): the accessibility rules cannot read this page: an element named nodeName hides a member/,
    );
  });
});
