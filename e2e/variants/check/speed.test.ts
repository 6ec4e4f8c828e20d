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
        busy(300);
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
