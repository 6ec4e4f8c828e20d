import { bundleForPage, FIRST_STATE, type Framework, renderOnServer, toDocument } from "./framework.ts";

/** The shop as a React component. The component passes the setter of its state to `onShow`. */
export const REACT_SHOP = `
import { useState, Suspense } from "react";
export function Shop({ first, onShow }) {
  const [state, show] = useState(first);
  onShow?.(show);
  const { count, items, hasSummary, generation } = state;
  return (
    <main className={"shop shop-" + count} key={generation}>
      <h1>Checkout</h1>
      <p id="greeting" className="muted" style={{ color: "red" }}>Hello <b>you</b>, {count} times</p>
      <div className="actions">
        <button id="pay" type="button" title={"old " + count} onClick={() => show({ ...state, count: count + 1 })}>Pay {count}</button>
        <button id="other" type="button">{"Other " + count}</button>
        {count > 1 && <em>more</em>}
      </div>
      <ul id="list">{items.map((item) => <li key={item} className="item"><span>{item}</span> <i>{count}</i></li>)}</ul>
      {hasSummary && <section className="summary"><label>Code <input name="code" required defaultValue="" /></label><p>Total {count}</p></section>}
      <footer>End {count}</footer>
    </main>
  );
}`;

const SERVER = `${REACT_SHOP}
import { renderToString } from "react-dom/server";
export const render = (state) => renderToString(<Shop first={state} />);`;

const CLIENT = `${REACT_SHOP}
import { flushSync } from "react-dom";
import { hydrateRoot } from "react-dom/client";
let show;
const root = hydrateRoot(document.getElementById("root"), <Shop first={${JSON.stringify(FIRST_STATE)}} onShow={(set) => { show = set; }} />, {
  onRecoverableError: (error) => console.error("recoverable: " + error),
});
window.shop = { show: (state) => flushSync(() => show(state)), unmount: () => root.unmount() };`;

/** The shop in React, with `renderToString` and `hydrateRoot`. */
export const react: Framework = {
  name: "React",
  async build(mode) {
    const content = await renderOnServer(SERVER, mode);
    return { html: toDocument(content), client: await bundleForPage(CLIENT, mode) };
  },
};
