import type { FindingCode, ViewportName } from "#lib/variant/check/check-report.ts";
import type { ScriptTag } from "#lib/variant/check/load/check-context.ts";
import type { Change, VariantPage } from "#lib/variant/document.ts";
import type { PageName } from "./pages.ts";

type WithoutId = Change extends infer Each ? (Each extends unknown ? Omit<Each, "id"> : never) : never;

/** A variant of one page. */
export type Edit = {
  name: string;
  page: PageName;
  changes?: WithoutId[];
  rest?: Partial<Pick<VariantPage, "css" | "js" | "match" | "when">>;
  tag?: ScriptTag;
  viewports?: ViewportName[];
};

/** A variant with a defect. `codes` are the findings that name it; any finding names it if there are none. */
export type Defect = Edit & { codes?: FindingCode[] };

const BUSY = "for (const endMs = performance.now() + 45; performance.now() < endMs; );";
const onMutation = (work: string) =>
  `new MutationObserver(() => { ${work} }).observe(document, { subtree: true, childList: true });`;

/** The planted defects. */
export const DEFECTS: Defect[] = [
  {
    name: "covered",
    page: "shop",
    changes: [
      {
        op: "insert",
        selector: ".products",
        position: "before",
        html: '<div style="position: absolute; left: 0; right: 0; height: 900px; z-index: 5; background: #fffd">Sale</div>',
      },
    ],
    codes: ["covered"],
  },
  {
    name: "overflow at 390 px",
    page: "pricing",
    changes: [{ op: "setStyle", selector: "#plan-team", style: { "min-width": "520px" } }],
    viewports: ["phone"],
    codes: ["overflow"],
  },
  {
    name: "contrast",
    page: "article",
    changes: [{ op: "setStyle", selector: ".intro", style: { color: "#c4c4c4" } }],
    codes: ["accessibility"],
  },
  {
    name: "console error",
    page: "dashboard",
    changes: [{ op: "setText", selector: "h1", text: "All orders" }],
    rest: { js: "setTimeout(() => window.orders.list.render(), 20);" },
    codes: ["console_error"],
  },
  {
    name: "hydration error",
    page: "react",
    rest: {
      js: "const edit = () => { const button = document.querySelector('#pay'); if (button && button.firstChild) { button.firstChild.data = 'Buy '; observer.disconnect(); } }; const observer = new MutationObserver(edit); observer.observe(document, { subtree: true, childList: true }); edit();",
    },
    tag: "blocking",
    codes: ["console_error"],
  },
  {
    name: "cut text",
    page: "shop",
    changes: [
      { op: "setText", selector: "[data-id='2'] .name", text: "Cup of thin porcelain with a painted rim" },
    ],
    codes: ["overflow"],
  },
  {
    name: "no revert",
    page: "article",
    changes: [{ op: "setText", selector: "h1", text: "How we make a kettle" }],
    rest: {
      js: "const note = document.createElement('p'); note.className = 'note'; note.textContent = 'New'; document.querySelector('main').append(note);",
    },
    codes: ["revert_left_trace"],
  },
  {
    name: "CSP",
    page: "strict",
    changes: [{ op: "setText", selector: "h1", text: "How we make a kettle" }],
    codes: ["csp_blocks_script"],
  },
  {
    name: "dead link",
    page: "menu",
    changes: [
      {
        op: "insert",
        selector: ".lead",
        position: "after",
        html: '<p><a href="/menus/prices">Prices</a></p>',
      },
    ],
    codes: ["dead_link"],
  },
  {
    name: "dead form: no such address",
    page: "article",
    changes: [
      {
        op: "insert",
        selector: "aside",
        position: "end",
        html: '<form action="/subscribe" method="post"><label>Email <input name="mail" type="email"></label> <button>Subscribe</button></form>',
      },
    ],
  },
  {
    name: "dead form: handler lost",
    page: "checkout",
    changes: [
      {
        op: "setHtml",
        selector: "main",
        html: '<h1>Checkout</h1><form id="order" novalidate><div class="field"><label for="mail">Email</label> <input id="mail" name="mail" type="email"></div><p class="error" id="error" role="alert"></p><button id="pay">Pay 24 €</button></form><p id="done" role="status"></p>',
      },
    ],
  },
  {
    name: "lost listeners",
    page: "shop",
    changes: [
      {
        op: "setHtml",
        selector: "[data-id='0']",
        html: '<h2 class="name">Kettle</h2><p class="price">3.00 €</p><button type="button" class="add">Add Kettle</button>',
      },
    ],
  },
  {
    name: "focus loss",
    page: "checkout",
    changes: [{ op: "setText", selector: "#pay", text: "Pay 24 €" }],
    rest: {
      js: "const look = (event) => { const field = event.target.closest('.field'); if (field) { const copy = field.nextSibling; field.remove(); copy.before(field); } }; addEventListener('input', look); addEventListener('focusin', look); return () => { removeEventListener('input', look); removeEventListener('focusin', look); };",
    },
  },
  {
    name: "duplicate id",
    page: "pricing",
    changes: [
      {
        op: "insert",
        selector: ".plans",
        position: "after",
        html: '<p id="plan-team">Most choose Team.</p>',
      },
    ],
    codes: ["duplicate_id"],
  },
  {
    name: "trapped drop-down",
    page: "menu",
    changes: [
      { op: "setStyle", selector: "header.bar", style: { "z-index": "0", transform: "translateZ(0)" } },
    ],
  },
  {
    name: "two matches",
    page: "article",
    changes: [{ op: "setText", selector: "article h2", text: "The copper" }],
    codes: ["several_matches"],
  },
  {
    name: "wrong page by prefix",
    page: "pricing",
    changes: [{ op: "setText", selector: "h1", text: "Prices" }],
    rest: { match: "prefix" },
    codes: ["wide_pattern"],
  },
  {
    name: "layout shift",
    page: "article",
    changes: [
      {
        op: "insert",
        selector: "h1",
        position: "before",
        html: '<div style="height: 320px; background: #eef">Sale</div>',
      },
    ],
    rest: { when: "idle" },
    codes: ["layout_shift"],
  },
  {
    name: "flicker of 2.9 s",
    page: "slow",
    changes: [{ op: "setText", selector: "h1", text: "How we make a kettle" }],
    rest: { when: "load" },
    codes: ["flicker"],
  },
  {
    name: "leak: a listener for each mutation",
    page: "dashboard",
    changes: [{ op: "setText", selector: "h1", text: "All orders" }],
    rest: { js: onMutation("addEventListener('resize', () => {});") },
    codes: ["leak"],
  },
  {
    name: "leak: a node for each navigation",
    page: "menu",
    changes: [{ op: "setText", selector: "h1", text: "We build kettles" }],
    rest: {
      js: "const kept = []; addEventListener('popstate', () => { kept.push(document.createElement('section')); });",
    },
    codes: ["leak"],
  },
  {
    name: "45 ms of script per mutation",
    page: "shop",
    changes: [{ op: "setText", selector: "h1", text: "Things for tea" }],
    rest: { js: onMutation(BUSY) },
    codes: ["slow_mutations"],
  },
];
