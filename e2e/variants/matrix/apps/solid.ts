import { ITEMS_SOURCE, type MatrixApp } from "../matrix-app.ts";
import { serveByProgram } from "../serve-app.ts";

const APP = `
import { createSignal, For, onMount, onCleanup, Show } from "solid-js";
${ITEMS_SOURCE}
function Shop(props) {
  const [count, setCount] = createSignal(1);
  const [late, setLate] = createSignal(false);
  const [thanks, setThanks] = createSignal("");
  onMount(() => setTimeout(() => setLate(true), 100));
  return <main class={"shop shop-" + count()}><h1>Checkout</h1>
    <p id="greeting" class="muted" style={{ color: "red" }}>Hello <b>you</b>, {count()} times</p>
    <div class="actions"><button id="again" type="button" onClick={() => setCount(count() + 1)}>Pay {count()}</button><button id="more" type="button">More</button></div>
    <ul id="list"><For each={itemsOf(count())}>{(item) => <li class="item" data-id={item}><span>{item}</span> <i>{count()}</i></li>}</For></ul>
    <Show when={count() > 0}><section class="summary"><h2>Total</h2><p>Total {count()}</p></section></Show>
    <p id="status" class={"status status-" + count()}>Count {count()}</p>
    <Show when={late()}><p class="late">Late</p></Show>
    <form id="form" onSubmit={(event) => { event.preventDefault(); setThanks("Thanks " + event.target.elements.name.value); }}><input name="name" /><button id="send">Send</button></form>
    <p id="thanks">{thanks()}</p>
    <a id="leave" href="/other" onClick={props.onLink}>Other</a></main>;
}
export function App(props) {
  const [path, setPath] = createSignal(props.path);
  const onLink = (event) => { event.preventDefault(); history.pushState(null, "", event.currentTarget.getAttribute("href")); setPath(location.pathname); };
  onMount(() => {
    const follow = () => setPath(location.pathname);
    addEventListener("popstate", follow);
    onCleanup(() => removeEventListener("popstate", follow));
  });
  return <Show when={path() === "/"} fallback={<><h1>Other</h1><a href="/" onClick={onLink}>Back</a></>}><Shop onLink={onLink} /></Show>;
}`;

const SERVER = `
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { generateHydrationScript, renderToString } from "solid-js/web";
import { App } from "./app.jsx";
createServer((request, response) => {
  const path = new URL(request.url, "http://app").pathname;
  if (path === "/client.js") { response.writeHead(200, { "content-type": "text/javascript" }); response.end(readFileSync("dist/client/client.js")); return; }
  response.writeHead(200, { "content-type": "text/html" });
  response.end("<!doctype html><html><head><title>Shop</title>" + generateHydrationScript() + '<script type="module" src="/client.js"></script></head><body><div id="app">' + renderToString(() => <App path={path} />) + "</div></body></html>");
}).listen(Number(process.env.PORT), "127.0.0.1");`;

const VITE = `
import solid from "vite-plugin-solid";
export default ({ isSsrBuild }) => ({
  plugins: [solid({ ssr: true })],
  build: { outDir: isSsrBuild ? "dist/server" : "dist/client", rollupOptions: { input: isSsrBuild ? "server.jsx" : "client.jsx", output: { entryFileNames: "[name].js" } } },
  ssr: { noExternal: true },
});`;

const vite = "node_modules/vite/bin/vite.js";

export const solid: MatrixApp = {
  name: "Solid SSR",
  build: "Vite, `renderToString` and `hydrate`",
  shown: ["solid-js", "vite"],
  packages: { "solid-js": "1.9.20", vite: "7.3.8", "vite-plugin-solid": "2.11.14" },
  files: {
    "app.jsx": APP,
    "server.jsx": SERVER,
    "client.jsx": `import { hydrate } from "solid-js/web"; import { App } from "./app.jsx"; hydrate(() => <App path={location.pathname} />, document.getElementById("app"));`,
    "vite.config.js": VITE,
  },
  commands: [
    [vite, "build"],
    [vite, "build", "--ssr"],
  ],
  start: (folder) => serveByProgram(folder, ["dist/server/server.js"]),
};
