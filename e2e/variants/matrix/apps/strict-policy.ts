import { ITEMS_SOURCE, type MatrixApp, renderShop } from "../matrix-app.ts";
import { serveWith } from "../serve-app.ts";

const SCRIPT = `${ITEMS_SOURCE}
let count = 1;
const find = (selector) => document.querySelector(selector);
if (find("#again")) {
  const make = (item) => {
    const li = document.createElement("li"), span = document.createElement("span"), i = document.createElement("i");
    li.className = "item";
    li.dataset.id = span.textContent = item;
    li.append(span, " ", i);
    return li;
  };
  find("#again").onclick = () => {
    count++;
    find("main").className = "shop shop-" + count;
    find("#greeting").lastChild.data = ", " + count + " times";
    find("#again").textContent = "Pay " + count;
    const old = new Map([...document.querySelectorAll("#list .item")].map((li) => [li.dataset.id, li]));
    const items = itemsOf(count).map((item) => old.get(item) ?? make(item));
    for (const li of old.values()) if (!items.includes(li)) li.remove();
    for (const li of items) { li.querySelector("i").textContent = count; find("#list").appendChild(li); }
    find(".summary p")?.replaceChildren("Total " + count);
    find("#status").className = "status status-" + count;
    find("#status").textContent = "Count " + count;
  };
  find("#form").onsubmit = (event) => { event.preventDefault(); find("#thanks").textContent = "Thanks " + find("[name=name]").value; };
  setTimeout(() => {
    const late = document.createElement("p");
    late.className = late.textContent = "late";
    late.textContent = "Late";
    find("#form").before(late);
  }, 100);
}`;

const headers = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
};

/** A page without a framework. Its policy allows no inline style, no inline script, no HTML from strings. */
export const strictPolicy: MatrixApp = {
  name: "Strict CSP, Trusted Types",
  build: "a script without a framework",
  shown: [],
  packages: {},
  files: {},
  start: () =>
    serveWith(({ path }) => {
      const toDocument = (body: string) => ({
        body: `<!doctype html><html><head><title>Shop</title><link rel="stylesheet" href="/shop.css"><script defer src="/shop.js"></script></head><body>${body}</body></html>`,
        headers,
      });
      if (path === "/shop.js") return { body: SCRIPT, type: "text/javascript" };
      if (path === "/shop.css") return { body: "#greeting { color: red }", type: "text/css" };
      if (path === "/") return toDocument(renderShop(1).replace(` style="color: red"`, ""));
      if (path === "/other") return toDocument("<h1>Other</h1>");
      return undefined;
    }),
};
