import { resolve } from "node:path";
import type { Plugin } from "esbuild";
import { compile } from "svelte/compiler";
import {
  type BuildMode,
  bundleForPage,
  FIRST_STATE,
  type Framework,
  renderOnServer,
  toDocument,
} from "./framework.ts";

const SHOP = `
<script>
  let { shop } = $props();
</script>
{#key shop.state.generation}
<main class={"shop shop-" + shop.state.count}>
  <h1>Checkout</h1>
  <p id="greeting" class="muted" style:color="red">Hello <b>you</b>, {shop.state.count} times</p>
  <div class="actions">
    <button id="pay" type="button" title={"old " + shop.state.count} onclick={() => { shop.state = { ...shop.state, count: shop.state.count + 1 }; }}>Pay {shop.state.count}</button>
    <button id="other" type="button">Other {shop.state.count}</button>
    {#if shop.state.count > 1}<em>more</em>{/if}
  </div>
  <ul id="list">{#each shop.state.items as item (item)}<li class="item"><span>{item}</span> <i>{shop.state.count}</i></li>{/each}</ul>
  {#if shop.state.hasSummary}<section class="summary"><label>Code <input name="code" required /></label><p>Total {shop.state.count}</p></section>{/if}
  <footer>End {shop.state.count}</footer>
</main>
{/key}`;

/**
 * The module that contains the state. The module is separate, because `$state` works only in modules that the Svelte
 * compiler compiles.
 */
const STATE_MODULE = `export function createShop(first) { let state = $state.raw(first); return { get state() { return state; }, set state(next) { state = next; } }; }`;

const SERVER = `
import { render as renderSvelte } from "svelte/server";
import Shop from "shop.svelte";
import { createShop } from "holder.svelte.js";
export const render = async (state) => (await renderSvelte(Shop, { props: { shop: createShop(state) } })).body;`;

const CLIENT = `
import { flushSync, hydrate, unmount } from "svelte";
import Shop from "shop.svelte";
import { createShop } from "holder.svelte.js";
const shop = createShop(${JSON.stringify(FIRST_STATE)});
const mounted = hydrate(Shop, { target: document.getElementById("root"), props: { shop } });
window.shop = { show: (next) => { shop.state = next; flushSync(); }, unmount: () => unmount(mounted) };`;

const compiler = (generate: "client" | "server", mode: BuildMode): Plugin => ({
  name: "svelte",
  setup(build) {
    const resolveDir = resolve(import.meta.dirname, "../../../..");
    build.onResolve({ filter: /^(shop|holder)\.svelte/ }, ({ path }) => ({ path, namespace: "svelte" }));
    build.onLoad({ filter: /.*/, namespace: "svelte" }, async ({ path }) => {
      const options = { generate, dev: mode === "development", filename: path };
      if (path === "shop.svelte") return { contents: compile(SHOP, options).js.code, resolveDir };
      const { compileModule } = await import("svelte/compiler");
      return { contents: compileModule(STATE_MODULE, options).js.code, resolveDir };
    });
  },
});

/** The shop in Svelte 5, with `hydrate`. */
export const svelte: Framework = {
  name: "Svelte",
  async build(mode) {
    const content = await renderOnServer(SERVER, mode, { plugins: [compiler("server", mode)] });
    const client = await bundleForPage(CLIENT, mode, {
      plugins: [compiler("client", mode)],
      conditions: [mode, "browser"],
    });
    return { html: toDocument(content), client };
  },
};
