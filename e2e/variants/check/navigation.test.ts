import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type CheckBench, documentOf, html, openBench, summarize } from "./check-testing.ts";

let bench: CheckBench;
before(async () => {
  bench = await openBench();
});
after(() => bench.close());

/** Creates a page with a client-side router. `home` and `other` are the HTML of its two routes. */
const pageWithRouter = (path: string, home: string, other: string) =>
  html(
    `<main><h1>Shop</h1><nav><a href="/logout">Log out</a> <a href="/document">Document</a> <a href="${path}/other">Other</a></nav><div id="app"></div></main>
    <script>
      const render = () => { app.innerHTML = location.pathname.endsWith("/other") ? ${JSON.stringify(other)} : ${JSON.stringify(home)}; };
      document.querySelector("nav").addEventListener("click", (event) => {
        if (!event.target.href.endsWith("/other")) return;
        event.preventDefault();
        history.pushState(null, "", event.target.href);
        setTimeout(render, 30);
      });
      addEventListener("popstate", () => setTimeout(render, 30));
      render();
    </script>`,
  );

describe("leaving a page by a link of its router, and coming back", () => {
  test("a change comes back, and does not stay on the other page; the check follows no other link", async () => {
    const requests: string[] = [];
    for (const path of ["/logout", "/document"])
      bench.serve(path, (request, response) => {
        requests.push(request.url ?? "");
        response.writeHead(200, { "content-type": "text/html" }).end("<p>Another document</p>");
      });
    const url = bench.serve("/spa", pageWithRouter("/spa", "<p id='offer'>Offer</p>", "<p>Other</p>"));
    const report = await bench.check(
      documentOf(url, [
        { id: "text", op: "setText", selector: "#offer", text: "New offer" },
        { id: "head", op: "setText", selector: "h1", text: "Welcome" },
        { id: "note", op: "insert", selector: "h1", position: "after", html: "<p class='note'>Note</p>" },
      ]),
    );
    assert.deepEqual(report.findings, []);
    assert.deepEqual(
      report.pages[0]?.changes.map(({ navigation }) => navigation),
      ["ok", "ok", "ok"],
    );
    assert.deepEqual(requests, []);
  });

  test("a change that does not come back fails", async () => {
    const home = "<p id='offer' class='first'>Offer</p>";
    const page = pageWithRouter("/forgetful", home, "<p>Other</p>").replace(
      "render();\n    </script>",
      `render(); addEventListener("popstate", () => setTimeout(() => { app.innerHTML = "<p id='offer'>Offer</p>" }, 60)); </script>`,
    );
    const url = bench.serve("/forgetful", page);
    const report = await bench.check(
      documentOf(url, [{ id: "c1", op: "setText", selector: "#offer.first", text: "New offer" }]),
      { limits: { routeMs: 600 } },
    );
    assert.deepEqual(summarize(report), ["fail lost_at_navigation c1"]);
  });
});

describe("using the page", () => {
  test("a node that is left at each trip, and links of the variant that lead nowhere, are findings", async () => {
    const links =
      '<p class="links"><a href="/links">Here</a> <a href="/links#title">Title</a> <a href="/none">None</a> <a href="#none">Nothing</a></p>';
    // On the way back, the page keeps a copy of what it shows, as a cache of rendered routes does.
    const keeping = `<script>addEventListener("popstate", () => setTimeout(() => { const note = document.querySelector(".note"); document.querySelector("main").append(note.cloneNode(true)); }, 60))</script>`;
    const page = pageWithRouter("/keeping", "<p id='offer'>Offer</p>", "<p>Other</p>");
    const [left, dead] = await Promise.all([
      bench.check(
        documentOf(bench.serve("/keeping", page.replace("</body>", `${keeping}</body>`)), [
          { id: "note", op: "insert", selector: "h1", position: "after", html: "<p class='note'>Note</p>" },
        ]),
      ),
      bench.check(
        documentOf(bench.serve("/links", html('<main><h1 id="title">Shop</h1></main>')), [
          { id: "links", op: "insert", selector: "h1", position: "after", html: links },
        ]),
      ),
    ]);
    assert.deepEqual(summarize(left), ["fail repeated note"]);
    assert.deepEqual(summarize(dead), ["fail dead_link links", "fail dead_link links"]);
    assert.match(
      dead.findings.map(({ message }) => message).join(),
      /\/none, which .* 404.*#none, which .* this id/,
    );
  });
});

describe("rendering over a change", () => {
  test("a change fails if the replacement of its element does not match", async () => {
    const page = (script: string) =>
      html(`<main><h1>Shop</h1><p id="offer" class="first">Offer</p></main><script>${script}</script>`);
    // The page replaces every new `.first` element with an element that the change does not match.
    const rename =
      "const first = document.querySelector('#offer'); new MutationObserver(() => { const offer = document.querySelector('.first'); if (offer && offer !== first) { const own = document.createElement('p'); own.textContent = 'Offer'; offer.replaceWith(own); } }).observe(document.body, { subtree: true, childList: true })";
    const document = (url: string) =>
      documentOf(url, [{ id: "c1", op: "setText", selector: "#offer.first", text: "New" }]);
    const [broken, repaired] = await Promise.all([
      bench.check(document(bench.serve("/renaming", page(rename)))),
      bench.check(document(bench.serve("/steady", page("")))),
    ]);
    assert.deepEqual(summarize(broken), ["fail lost_at_render c1"]);
    assert.match(broken.findings[0]?.message ?? "", /replaced its element by a new one/);
    assert.deepEqual(repaired.findings, []);
    assert.equal(repaired.pages[0]?.changes[0]?.rerender, "ok");
  });
});
