import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type OverlayBench, openOverlayBench } from "./overlay-testing.ts";

/** Fields and images whose names are members of forms and documents, and built-ins that the page has replaced. */
const NAMES = [
  "children",
  "attributes",
  "style",
  "closest",
  "matches",
  "parentNode",
  "parentElement",
  "id",
  "localName",
  "getBoundingClientRect",
  "getAttribute",
  "hasAttribute",
  "getRootNode",
  "nodeType",
  "previousElementSibling",
  "nextElementSibling",
  "shadowRoot",
  "innerText",
  "textContent",
  "checkVisibility",
  "ownerDocument",
  "currentCSSZoom",
];
const DOCUMENT_NAMES = [
  "documentElement",
  "createElementNS",
  "createElement",
  "querySelectorAll",
  "elementFromPoint",
  "title",
  "createRange",
  "body",
  "readyState",
];
const NAMED = `<!doctype html><style>body{margin:0} form{height:100px;cursor:help} input{display:none}</style>
  <script>
    for (const [owner, names] of [[Array, ["from"]], [Array.prototype, ["reduce", "map", "filter", "find"]], [JSON, ["stringify", "parse"]],
      [Object, ["keys", "getOwnPropertyDescriptor", "hasOwn"]], [Element.prototype, ["attachShadow", "append"]],
      [HTMLElement.prototype, ["showPopover"]]])
      for (const name of names) owner[name] = () => { throw new Error("replaced"); };
    Promise = undefined; MutationObserver = undefined;
  </script>
  <form data-testid="booking">${NAMES.map((name) => `<input name="${name}">`).join("")}</form>
  ${DOCUMENT_NAMES.map((name) => `<img name="${name}" style="display:none">`).join("")}
  <a id="agentSessionOverlay"></a><iframe srcdoc='<form id=inner style="height:90px"><input name=children hidden></form>'></iframe>`;

let bench: OverlayBench;

before(async () => {
  bench = await openOverlayBench((_, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(NAMED);
  });
});
after(() => bench.close());

test("elements with fields named like their members, in a page that has replaced built-ins", async () => {
  const live = await bench.open("/named");
  const { harness, sessionId } = bench;
  assert.equal(await harness.browsers.readCursor(sessionId, 20, 20), "help");
  const form = await bench.annotate({ x: 20, y: 20 }, "Too long");
  assert.deepEqual([form.selector, form.element], ['form[data-testid="booking"]', "form"]);
  await live.page().evaluate("document.querySelector('form').inert = true");
  assert.equal((await bench.annotate({ x: 20, y: 20 }, "Inert")).selector, 'form[data-testid="booking"]');
  const inner = await bench.annotate({ x: 40, y: 150 }, "In a frame");
  assert.deepEqual([inner.frame, inner.selector], ["iframe", "#inner"]);
});
