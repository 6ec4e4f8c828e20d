import type { Change } from "#lib/variant/document.ts";

/** Changes of the shop's elements. Together they use every operation. */
export const SHOP_CHANGES: Change[] = [
  { id: "text", op: "setText", selector: "#pay", text: "Buy" },
  { id: "text-of-elements", op: "setText", selector: "#greeting", text: "Welcome" },
  { id: "text-of-list", op: "setText", selector: "li > span", text: "Fruit" },
  { id: "html", op: "setHtml", selector: ".summary", html: "<h2>Sum</h2><p>All</p>" },
  { id: "html-of-text", op: "setHtml", selector: "#other", html: "<b>Other</b> way" },
  { id: "html-of-list", op: "setHtml", selector: "li", html: "<b>Item</b>" },
  { id: "attribute", op: "setAttribute", selector: "#pay", name: "title", value: "new" },
  { id: "no-attribute", op: "removeAttribute", selector: "#pay", name: "type" },
  { id: "class", op: "addClass", selector: "main", className: "wide" },
  { id: "no-class", op: "removeClass", selector: "li", className: "item" },
  { id: "style", op: "setStyle", selector: "#greeting", style: { color: "green", padding: "2px" } },
  { id: "before", op: "insert", selector: "#pay", position: "before", html: "<i>before</i>" },
  { id: "start", op: "insert", selector: "#list", position: "start", html: "<li>first</li>" },
  { id: "end", op: "insert", selector: "#list", position: "end", html: "<li>last</li>" },
  { id: "after", op: "insert", selector: "li", position: "after", html: "<li>next</li>" },
  { id: "after-summary", op: "insert", selector: ".summary", position: "after", html: "<p>after</p>" },
  { id: "move", op: "move", selector: "#other", position: "before", target: "#pay" },
  { id: "move-out", op: "move", selector: ".summary", position: "after", target: "h1" },
  { id: "move-away", op: "move", selector: "#greeting", position: "end", target: ".actions" },
  { id: "move-item", op: "move", selector: "li:first-child", position: "after", target: "#list" },
  { id: "remove", op: "remove", selector: "h1" },
  { id: "remove-summary", op: "remove", selector: ".summary" },
  { id: "remove-item", op: "remove", selector: "li" },
];
