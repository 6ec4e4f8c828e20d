import { ITEMS_SOURCE, type MatrixApp } from "../matrix-app.ts";
import { serveByProgram } from "../serve-app.ts";

/**
 * The shop as a component for React and Preact, without imports. `link` is the element that leads to the other page.
 * The component uses `useState` and `useEffect`.
 */
export const jsxShop = (link: string): string => `
${ITEMS_SOURCE}
function Shop({ onLink }) {
  const [count, setCount] = useState(1);
  const [isLate, setLate] = useState(false);
  const [thanks, setThanks] = useState("");
  useEffect(() => { const timer = setTimeout(() => setLate(true), 100); return () => clearTimeout(timer); }, []);
  const submit = (event) => { event.preventDefault(); setThanks("Thanks " + event.currentTarget.elements.name.value); };
  return <main className={"shop shop-" + count}><h1>Checkout</h1>
    <p id="greeting" className="muted" style={{ color: "red" }}>Hello <b>you</b>{", " + count + " times"}</p>
    <div className="actions"><button id="again" type="button" onClick={() => setCount(count + 1)}>{"Pay " + count}</button><button id="more" type="button">More</button></div>
    <ul id="list">{itemsOf(count).map((item) => <li key={item} className="item" data-id={item}><span>{item}</span> <i>{count}</i></li>)}</ul>
    {count > 0 && <section className="summary"><h2>Total</h2><p>{"Total " + count}</p></section>}
    <p id="status" className={"status status-" + count}>{"Count " + count}</p>
    {isLate && <p className="late">Late</p>}
    <form id="form" onSubmit={submit}><input name="name" /><button id="send">Send</button></form>
    <p id="thanks">{thanks}</p>
    ${link}</main>;
}`;

/** The shop and the other page, with a router of a few lines. */
const ROUTED = `${jsxShop(`<a id="leave" href="/other" onClick={onLink}>Other</a>`)}
export function App({ first }) {
  const [path, setPath] = useState(first);
  useEffect(() => {
    const follow = () => setPath(location.pathname);
    addEventListener("popstate", follow);
    return () => removeEventListener("popstate", follow);
  }, []);
  const onLink = (event) => { event.preventDefault(); history.pushState(null, "", event.currentTarget.getAttribute("href")); setPath(location.pathname); };
  return path === "/" ? <Shop onLink={onLink} /> : <><h1>Other</h1><a href="/" onClick={onLink}>Back</a></>;
}`;

const toServer = (imports: string) => `
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
${imports}
import { App } from "./app.jsx";
createServer((request, response) => {
  const path = new URL(request.url, "http://app").pathname;
  const isScript = path === "/client.js";
  response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" });
  response.end(isScript ? readFileSync("dist/client.js") : '<!doctype html><html><head><title>Shop</title><script type="module" src="/client.js"></script></head><body><div id="site">' + render(<App first={path} />) + "</div></body></html>");
}).listen(Number(process.env.PORT), "127.0.0.1");`;

const esbuild = "node_modules/esbuild/bin/esbuild";

/** A shop in React or Preact: rendered by the library's own function on the server and hydrated in `#site`. */
function makeJsxApp(
  app: Pick<MatrixApp, "name" | "build" | "shown" | "packages">,
  source: { jsx: string; hooks: string; render: string; hydrate: string },
): MatrixApp {
  const flags = [
    "--bundle",
    "--minify",
    "--format=esm",
    "--jsx=automatic",
    `--jsx-import-source=${source.jsx}`,
  ];
  const define = `--define:process.env.NODE_ENV="production"`;
  return {
    ...app,
    packages: { ...app.packages, esbuild: "0.25.12" },
    files: {
      "app.jsx": `import { useState, useEffect } from "${source.hooks}";\n${ROUTED}`,
      "server.jsx": toServer(source.render),
      "client.jsx": `${source.hydrate}\nimport { App } from "./app.jsx";\nstart(<App first={location.pathname} />, document.getElementById("site"));`,
    },
    commands: [
      [esbuild, "client.jsx", ...flags, define, "--outfile=dist/client.js"],
      [
        esbuild,
        "server.jsx",
        ...flags,
        define,
        "--platform=node",
        "--packages=external",
        "--outfile=dist/server.mjs",
      ],
    ],
    start: (folder) => serveByProgram(folder, ["dist/server.mjs"]),
  };
}

/** The shop has no adjacent texts, so React leaves no comments, and nothing in the HTML says that React hydrates it. */
export const reactRoot: MatrixApp = makeJsxApp(
  {
    name: "React, root without comments",
    build: "esbuild, `renderToString` and `hydrateRoot` in `#site`",
    shown: ["react"],
    packages: { react: "19.3.1", "react-dom": "19.3.1" },
  },
  {
    jsx: "react",
    hooks: "react",
    render: `import { renderToString as render } from "react-dom/server";`,
    hydrate: `import { hydrateRoot } from "react-dom/client";\nconst start = (app, root) => hydrateRoot(root, app, { onRecoverableError: (error) => console.error("recoverable: " + error) });`,
  },
);

export const preact: MatrixApp = makeJsxApp(
  {
    name: "Preact SSR",
    build: "esbuild, `preact-render-to-string` and `hydrate`",
    shown: ["preact"],
    packages: { preact: "11.2.0", "preact-render-to-string": "6.8.2" },
  },
  {
    jsx: "preact",
    hooks: "preact/hooks",
    render: `import { renderToString as render } from "preact-render-to-string";`,
    hydrate: `import { hydrate as start } from "preact";`,
  },
);
