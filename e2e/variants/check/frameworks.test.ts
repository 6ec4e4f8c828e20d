import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { bundleForPage, loadOnServer } from "../runtime/frameworks/framework.ts";
import { type CheckBench, documentOf, html, openBench, summarize } from "./check-testing.ts";

/** A React application that is rendered on the server. It has client-side routes and a counter. */
const APP = `
import { useEffect, useState } from "react";
export function App({ path, isClient }) {
  const [route, setRoute] = useState(path);
  const [count, setCount] = useState(0);
  useEffect(() => {
    const follow = () => setRoute(location.pathname);
    addEventListener("popstate", follow);
    const timer = setInterval(() => setCount((each) => each + 1), 200);
    return () => { removeEventListener("popstate", follow); clearInterval(timer); };
  }, []);
  const go = (event) => { event.preventDefault(); history.pushState(null, "", event.target.href); setRoute("/react/other"); };
  return (
    <main>
      <h1 id="title">Shop</h1>
      <a href="/react/other" onClick={go}>Other</a>
      {route === "/react/other" ? <p>Other page</p> : <section id="offer"><p id="price">Price <b>10</b></p><button type="button">Buy</button></section>}
      <p id="count">Count {count}</p>
      <p id="place" className={isClient ? "client" : "server"} suppressHydrationWarning>{isClient ? <i key="i">Client</i> : <b key="b">Server</b>}</p>
    </main>
  );
}`;
const SERVER = `${APP}
import { renderToString } from "react-dom/server";
export const render = (isClient) => renderToString(<App path="/react" isClient={isClient} />);`;
const CLIENT = `${APP}
import { hydrateRoot } from "react-dom/client";
const isSame = document.documentElement.dataset.render === "same";
hydrateRoot(document.getElementById("root"), <App path={location.pathname} isClient={isSame ? false : true} />);`;

let bench: CheckBench;
/**
 * The addresses of two pages. On `same`, the client renders what the server rendered; on `different`, one element
 * differs.
 */
const urls = { same: "", different: "" };

before(async () => {
  bench = await openBench();
  const [client, { render }] = await Promise.all([
    bundleForPage(CLIENT, "development"),
    loadOnServer(SERVER, "development"),
  ]);
  assert.ok(typeof render === "function");
  bench.serve("/client.js", (_request, response) => {
    response.writeHead(200, { "content-type": "text/javascript" }).end(client);
  });
  const page = html(
    `<div id="root">${render(false)}</div>`,
    '<script type="module" src="/client.js"></script>',
  );
  urls.same = bench.serve("/react", page.replace("<html ", '<html data-render="same" '));
  urls.different = bench.serve("/different", page);
});
after(() => bench.close());

describe("a React page that the server renders", () => {
  test("changes survive hydration, rendering and the router", async () => {
    const report = await bench.check(
      documentOf(urls.same, [
        { id: "price", op: "setHtml", selector: "#price", html: "Only <b>9</b>" },
        { id: "title", op: "setText", selector: "#title", text: "Sale" },
        {
          id: "note",
          op: "insert",
          selector: "#offer",
          position: "start",
          html: '<p class="note">Free returns</p>',
        },
        { id: "buy", op: "setAttribute", selector: "#offer button", name: "title", value: "Buy now" },
        { id: "gone", op: "remove", selector: "#place" },
      ]),
    );
    assert.deepEqual(report.findings, []);
    assert.deepEqual(
      report.pages[0]?.changes.map(({ id, hydration, rerender, navigation, revert }) => [
        id,
        hydration,
        rerender,
        navigation,
        revert,
      ]),
      ["price", "title", "note", "buy", "gone"].map((id) => [id, "ok", "ok", "ok", "ok"]),
    );
  });

  test("a change of an element that only the server renders is lost", async () => {
    const document = documentOf(urls.different, [
      { id: "c1", op: "setText", selector: "#place.server b", text: "Mine" },
    ]);
    const report = await bench.check(document, { limits: { applyMs: 3_500 } });
    assert.deepEqual(summarize(report), ["fail lost_at_hydration c1"]);
  });

  test("a script that edits before hydration causes an error", async () => {
    const document = documentOf(urls.same, [], {
      js: 'document.addEventListener("readystatechange", () => { const title = document.querySelector("#title"); if (title) title.textContent = "Early"; });',
    });
    // A script that the page waits for runs before React does.
    const report = await bench.check(document, { tag: "blocking" });
    assert.ok(summarize(report).includes("fail console_error -"), summarize(report).join("; "));
    assert.match(report.findings.map(({ message }) => message).join("\n"), /hydrat/i);
  });

  test("a script that removes an element of React breaks its router", async () => {
    // Removes the element once React has hydrated it.
    const document = documentOf(urls.same, [], {
      js: `const timer = setInterval(() => {
        const offer = document.querySelector("#offer");
        if (!offer || !Object.keys(offer).some((key) => key.startsWith("__reactFiber"))) return;
        clearInterval(timer);
        offer.remove();
      }, 50);`,
    });
    const report = await bench.check(document);
    assert.ok(
      report.findings.some(
        ({ code, message }) =>
          code === "console_error" && /goes to .*\/react\/other by a link.*NotFoundError/.test(message),
      ),
      summarize(report).join("; "),
    );
  });
});
