import { ITEMS_SOURCE, type MatrixApp } from "../matrix-app.ts";
import { serveByProgram } from "../serve-app.ts";

const SHOP = `
import { component$, useSignal, useVisibleTask$, $ } from "@builder.io/qwik";
${ITEMS_SOURCE}
export default component$(() => {
  const count = useSignal(1);
  const isLate = useSignal(false);
  const thanks = useSignal("");
  useVisibleTask$(() => { setTimeout(() => { isLate.value = true; }, 100); });
  return <main class={"shop shop-" + count.value}><h1>Checkout</h1>
    <p id="greeting" class="muted" style="color: red">Hello <b>you</b>, {count.value} times</p>
    <div class="actions"><button id="again" type="button" onClick$={() => { count.value++; }}>{"Pay " + count.value}</button><button id="more" type="button">More</button></div>
    <ul id="list">{itemsOf(count.value).map((item) => <li key={item} class="item" data-id={item}><span>{item}</span> <i>{count.value}</i></li>)}</ul>
    {count.value > 0 && <section class="summary"><h2>Total</h2><p>Total {count.value}</p></section>}
    <p id="status" class={"status status-" + count.value}>Count {count.value}</p>
    {isLate.value && <p class="late">Late</p>}
    <form id="form" preventdefault:submit onSubmit$={(_event, form) => { thanks.value = "Thanks " + form.elements.namedItem("name").value; }}><input name="name" /><button id="send">Send</button></form>
    <p id="thanks">{thanks.value}</p>
    <a id="leave" href="/other">Other</a></main>;
});`;

const ROOT = `
import { component$ } from "@builder.io/qwik";
import { QwikCityProvider, RouterOutlet } from "@builder.io/qwik-city";
export default component$(() => <QwikCityProvider><head><title>Shop</title></head><body><RouterOutlet /></body></QwikCityProvider>);`;

const ENTRY_SERVER = `
import { createServer } from "node:http";
import { createQwikCity } from "@builder.io/qwik-city/middleware/node";
import plan from "@qwik-city-plan";
import render from "./entry.ssr";
const { router, notFound, staticFile } = createQwikCity({ render, qwikCityPlan: plan, static: { root: process.cwd() + "/dist" } });
createServer((request, response) => {
  staticFile(request, response, () => router(request, response, () => notFound(request, response, () => {})));
}).listen(Number(process.env.PORT), "127.0.0.1");`;

const vite = (mode: string) => `
import { defineConfig } from "vite";
import { qwikVite } from "@builder.io/qwik/optimizer";
import { qwikCity } from "@builder.io/qwik-city/vite";
export default defineConfig({ plugins: [qwikCity(), qwikVite()], ${mode} });`;

/** Qwik City's client and server builds. The page is resumed, not hydrated. */
export const qwik: MatrixApp = {
  name: "Qwik",
  build: "Vite, Qwik City, plain links",
  shown: ["@builder.io/qwik"],
  packages: {
    "@builder.io/qwik": "1.20.1",
    "@builder.io/qwik-city": "1.20.1",
    vite: "7.3.8",
    typescript: "5.9.3",
  },
  files: {
    "tsconfig.json": `{ "compilerOptions": { "target": "es2022", "module": "es2022", "moduleResolution": "bundler", "jsx": "react-jsx", "jsxImportSource": "@builder.io/qwik", "allowJs": true, "noEmit": true }, "include": ["src"] }`,
    "vite.config.mjs": vite(""),
    "vite.server.config.mjs": vite(
      `build: { ssr: true, outDir: "server", rollupOptions: { input: ["src/entry.server.jsx", "@qwik-city-plan"] } }, ssr: { noExternal: true }`,
    ),
    "src/root.jsx": ROOT,
    "src/entry.ssr.jsx": `import { renderToStream } from "@builder.io/qwik/server"; import { manifest } from "@qwik-client-manifest"; import Root from "./root"; export default (options) => renderToStream(<Root />, { manifest, ...options });`,
    "src/entry.server.jsx": ENTRY_SERVER,
    "src/routes/index.jsx": SHOP,
    "src/routes/other/index.jsx": `import { component$ } from "@builder.io/qwik"; export default component$(() => <div><h1>Other</h1><a href="/">Back</a></div>);`,
  },
  commands: [
    ["node_modules/vite/bin/vite.js", "build"],
    ["node_modules/vite/bin/vite.js", "build", "--config", "vite.server.config.mjs"],
  ],
  start: (folder) => serveByProgram(folder, ["server/entry.server.js"]),
};
