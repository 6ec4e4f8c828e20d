import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, before, test } from "node:test";
import { type CheckBench, documentOf, html, openBench, summarize } from "./check-testing.ts";

let bench: CheckBench;
before(async () => {
  bench = await openBench();
});
after(() => bench.close());

test("a tag that does not block shows the original first; flicker, shift and work of the variant are findings", async () => {
  // The heading is painted, and its end tag comes later. Until then the runtime does not touch it.
  const held = new Map<string, ServerResponse>();
  const [start = "", end = ""] = html(
    `<script>requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => fetch("/release?$ID"), 700)))</script>
    <main style="display: flex; flex-direction: column-reverse"><p style="height: 500px">Body</p><div id="slow"><h1>Shop</h1>$END</div></main>`,
  ).split("$END");
  const url = bench.serve("/slow", (_request, response) => {
    const id = String(held.size);
    held.set(id, response);
    response.writeHead(200, { "content-type": "text/html" }).write(start.replace("$ID", id));
  });
  bench.serve("/release", (request, response) => {
    held.get(request.url?.split("?")[1] ?? "")?.end(end);
    response.end();
  });
  const banner = { id: "c1", op: "insert", selector: "#slow", position: "end" } as const;
  const report = await bench.check(
    documentOf(url, [{ ...banner, html: '<div style="height: 300px">Offer</div>' }], {
      js: `const busy = (ms) => { for (const endMs = performance.now() + ms; performance.now() < endMs; ); };
        busy(800);
        new MutationObserver(() => busy(45)).observe(document, { subtree: true, childList: true });`,
    }),
  );
  assert.deepEqual(summarize(report), [
    "warn layout_shift -",
    "warn slow_mutations -",
    "warn slow_script -",
    "warn flicker c1",
  ]);
});

/** The first heading of a page, painted before the change is applied. */
const PAINTED = `<script>requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => document.documentElement.classList.add("painted"), 50)))</script>`;

test("a banner before a heading that people see already is a warning about layout shift", async () => {
  const url = bench.serve(
    "/banner",
    html(
      `${PAINTED}<main><h1>Shop</h1><p style="height: 1200px">Body</p></main>`,
      "<style>body { margin: 0 }</style>",
    ),
  );
  const banner = { id: "c1", op: "insert", selector: "h1", position: "before" } as const;
  const changes = [{ ...banner, html: '<div style="height: 300px">Offer</div>' }];
  const { pages } = documentOf(url, changes);
  const report = await bench.check({ pages: pages.map((page) => ({ ...page, when: ".painted" })) });
  assert.deepEqual(summarize(report), ["warn layout_shift -"]);
  const shift = report.pages[0]?.layoutShift ?? 0;
  assert.ok(shift > 0.2 && shift < 0.26, `${shift}`);
});

test("scripts that work or grow after each mutation and each trip of the router are findings", async () => {
  const router = `<script>
    const show = () => { document.querySelector("#app").textContent = location.pathname; };
    document.querySelector("a").onclick = (event) => { event.preventDefault(); history.pushState(null, "", "/routes/other"); show(); };
    addEventListener("popstate", show);
  </script>`;
  const page = html(
    `<main><h1>Shop</h1><nav><a href="/routes/other">Other</a></nav><div id="app"></div></main>${router}`,
  );
  const check = (path: string, js: string) =>
    bench.check(
      documentOf(bench.serve(path, page), [{ id: "c1", op: "setText", selector: "h1", text: "Sale" }], {
        js,
      }),
    );
  const busy = "for (const endMs = performance.now() + 45; performance.now() < endMs; );";
  const onMutation = (work: string) =>
    `new MutationObserver(() => { ${work} }).observe(document.body, { subtree: true, childList: true });`;
  const [framed, leaking] = await Promise.all([
    // The work is not in the observer itself.
    check("/framed", onMutation(`requestAnimationFrame(() => { ${busy} });`)),
    check(
      "/leaking",
      `${onMutation("addEventListener('click', () => {});")}
      const kept = [];
      addEventListener("popstate", () => { kept.push(document.createElement("b")); });`,
    ),
  ]);
  assert.deepEqual(summarize(framed), ["warn slow_mutations -"]);
  assert.deepEqual(summarize(leaking), ["warn leak -", "warn leak -"]);
  const texts = leaking.findings.map(({ message }) => message).join("\n");
  assert.match(texts, /keeps \d nodes and \d event listeners more each time/);
  assert.match(texts, /keeps \d event listeners more after each mutation/);
});
