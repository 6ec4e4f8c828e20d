import type { Edit } from "./defects.ts";

const note = '<p class="note">Free returns within 30 days.</p>';

/** Edits without a defect. Each finding on them is a false alarm. */
export const HARMLESS: Edit[] = [
  { name: "heading", page: "shop", changes: [{ op: "setText", selector: "h1", text: "Things for tea" }] },
  {
    name: "lead with markup",
    page: "shop",
    changes: [{ op: "setHtml", selector: ".lead", html: "Made by <b>hand</b>, at your door in a week." }],
  },
  {
    name: "note after the list",
    page: "shop",
    changes: [{ op: "insert", selector: ".products", position: "after", html: note }],
  },
  {
    name: "colour of one button",
    page: "shop",
    changes: [{ op: "setStyle", selector: "[data-id='1'] .add", style: { "background-color": "#0a5c36" } }],
  },
  {
    name: "text of one button",
    page: "shop",
    changes: [{ op: "setText", selector: "[data-id='3'] .add", text: "Add it" }],
  },
  {
    name: "style sheet",
    page: "shop",
    rest: { css: ".card { border-color: #8a8a8a } .card:hover { border-color: #000 }" },
  },
  {
    name: "heading",
    page: "article",
    changes: [{ op: "setText", selector: "h1", text: "How we make a kettle" }],
  },
  { name: "quotation removed", page: "article", changes: [{ op: "remove", selector: "blockquote" }] },
  {
    name: "link with a title",
    page: "article",
    changes: [{ op: "setAttribute", selector: "aside a", name: "title", value: "Prices" }],
  },
  {
    name: "working link",
    page: "article",
    changes: [
      { op: "insert", selector: "aside", position: "end", html: '<p><a href="/shop">All kettles</a></p>' },
    ],
  },
  {
    name: "caption",
    page: "article",
    changes: [{ op: "setText", selector: "figcaption", text: "Copper, as it comes." }],
  },
  {
    name: "figure moved",
    page: "article",
    changes: [{ op: "move", selector: "figure", position: "after", target: "blockquote" }],
    tag: "blocking",
  },
  {
    name: "class of a plan",
    page: "pricing",
    changes: [{ op: "addClass", selector: "#plan-team", className: "is-chosen" }],
    rest: { css: ".is-chosen { outline: 3px solid #0b57d0 }" },
  },
  {
    name: "row of a table",
    page: "pricing",
    changes: [
      {
        op: "insert",
        selector: "tbody",
        position: "end",
        html: '<tr><th scope="row">Storage</th><td>1 GB</td><td>9 GB</td></tr>',
      },
    ],
  },
  {
    name: "label of a link",
    page: "pricing",
    changes: [{ op: "setText", selector: "#plan-firm a", text: "Take Firm" }],
  },
  {
    name: "question",
    page: "pricing",
    changes: [{ op: "setText", selector: "summary", text: "May I leave?" }],
  },
  { name: "heading", page: "dashboard", changes: [{ op: "setText", selector: "h1", text: "All orders" }] },
  {
    name: "hint next to a tab panel",
    page: "dashboard",
    changes: [{ op: "setText", selector: "#panel-open .hint", text: "These wait for you." }],
  },
  {
    name: "label of a tab",
    page: "dashboard",
    changes: [{ op: "setText", selector: "#tab-done", text: "Sent" }],
  },
  {
    name: "script that cleans up",
    page: "dashboard",
    changes: [{ op: "addClass", selector: "#more", className: "is-wide" }],
    rest: {
      js: "const onClick = () => {}; addEventListener('click', onClick); return () => removeEventListener('click', onClick);",
    },
  },
  { name: "button", page: "checkout", changes: [{ op: "setText", selector: "#pay", text: "Pay 24 €" }] },
  {
    name: "placeholder",
    page: "checkout",
    changes: [{ op: "setAttribute", selector: "#city", name: "placeholder", value: "Kiel" }],
  },
  {
    name: "note in the form",
    page: "checkout",
    changes: [{ op: "insert", selector: ".total", position: "after", html: note }],
  },
  { name: "space between fields", page: "checkout", rest: { css: "#order { gap: 16px }" } },
  { name: "heading", page: "menu", changes: [{ op: "setText", selector: "h1", text: "We build kettles" }] },
  {
    name: "label of the menu",
    page: "menu",
    changes: [{ op: "setText", selector: "#open", text: "All parts" }],
  },
  {
    name: "text on all routes",
    page: "menu",
    changes: [{ op: "setText", selector: ".lead", text: "A studio on the coast." }],
    rest: { match: "glob" },
  },
  {
    name: "text and button",
    page: "react",
    changes: [
      { op: "setText", selector: "h1", text: "Your order" },
      { op: "setAttribute", selector: "#pay", name: "class", value: "big" },
    ],
  },
  {
    name: "note in the list",
    page: "vue",
    changes: [
      { op: "insert", selector: "#list", position: "after", html: note },
      { op: "setText", selector: "h1", text: "Your order" },
    ],
  },
  {
    name: "heading and style",
    page: "svelte",
    changes: [
      { op: "setText", selector: "h1", text: "Your order" },
      { op: "setStyle", selector: "#pay", style: { "font-weight": "700" } },
    ],
  },
];
