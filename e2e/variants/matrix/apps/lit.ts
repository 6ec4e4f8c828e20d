import { ITEMS_SOURCE, type MatrixApp } from "../matrix-app.ts";
import { serveByProgram } from "../serve-app.ts";

const SHOP = `
import { html, LitElement } from "lit";
import { repeat } from "lit/directives/repeat.js";
${ITEMS_SOURCE}
export class ShopElement extends LitElement {
  static properties = { count: { state: true }, isLate: { state: true }, thanks: { state: true } };
  constructor() { super(); this.count = 1; this.isLate = false; this.thanks = ""; }
  firstUpdated() { setTimeout(() => { this.isLate = true; }, 100); }
  submit(event) { event.preventDefault(); this.thanks = "Thanks " + event.currentTarget.elements.name.value; }
  render() {
    const { count } = this;
    return html\`<main class="shop shop-\${count}"><h1>Checkout</h1>
      <p id="greeting" class="muted" style="color: red">Hello <b>you</b>, \${count} times</p>
      <div class="actions"><button id="again" type="button" @click=\${() => { this.count++; }}>Pay \${count}</button><button id="more" type="button">More</button></div>
      <ul id="list">\${repeat(itemsOf(count), (item) => item, (item) => html\`<li class="item" data-id=\${item}><span>\${item}</span> <i>\${count}</i></li>\`)}</ul>
      \${count > 0 ? html\`<section class="summary"><h2>Total</h2><p>Total \${count}</p></section>\` : ""}
      <p id="status" class="status status-\${count}">Count \${count}</p>
      \${this.isLate ? html\`<p class="late">Late</p>\` : ""}
      <form id="form" @submit=\${this.submit}><input name="name"><button id="send">Send</button></form>
      <p id="thanks">\${this.thanks}</p>
      <a id="leave" href="/other">Other</a></main>\`;
  }
}
customElements.define("my-shop", ShopElement);`;

const SERVER = `
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { render } from "@lit-labs/ssr";
import { collectResult } from "@lit-labs/ssr/lib/render-result.js";
import { html } from "lit";
import "./shop.js";
createServer(async (request, response) => {
  const path = new URL(request.url, "http://app").pathname;
  const isScript = path === "/client.js";
  response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" });
  const body = path === "/other" ? "<h1>Other</h1>" : await collectResult(render(html\`<my-shop></my-shop>\`));
  response.end(isScript ? readFileSync("dist/client.js") : '<!doctype html><html><head><title>Shop</title><script type="module" src="/client.js"></script></head><body>' + body + "</body></html>");
}).listen(Number(process.env.PORT), "127.0.0.1");`;

/** The shop is in a declarative shadow root, which Lit hydrates. */
export const lit: MatrixApp = {
  name: "Lit SSR",
  build: "esbuild, `@lit-labs/ssr`, hydrated shadow root",
  shown: ["lit", "@lit-labs/ssr"],
  packages: { lit: "3.3.3", "@lit-labs/ssr": "4.1.0", "@lit-labs/ssr-client": "1.1.8", esbuild: "0.25.12" },
  files: {
    "shop.js": SHOP,
    "server.js": SERVER,
    "client.js": `import "@lit-labs/ssr-client/lit-element-hydrate-support.js"; import "./shop.js";`,
  },
  commands: [
    [
      "node_modules/esbuild/bin/esbuild",
      "client.js",
      "--bundle",
      "--minify",
      "--format=esm",
      "--outfile=dist/client.js",
    ],
  ],
  start: (folder) => serveByProgram(folder, ["server.js"]),
};
