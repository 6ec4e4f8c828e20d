import {
  type BuildMode,
  type BuiltShop,
  bundleForPage,
  FIRST_STATE,
  type Framework,
  renderOnServer,
  toDocument,
} from "./framework.ts";

const SHOP = `
import { createSSRApp, h, shallowRef, Fragment } from "vue";
export function createShop(first) {
  const state = shallowRef(first);
  const app = createSSRApp({ render() {
    const { count, items, hasSummary, generation } = state.value;
    return h("main", { class: "shop shop-" + count, key: generation }, [
      h("h1", "Checkout"),
      h("p", { id: "greeting", class: "muted", style: { color: "red" } }, ["Hello ", h("b", "you"), ", " + count + " times"]),
      h("div", { class: "actions" }, [
        h("button", { id: "pay", type: "button", title: "old " + count, onClick: () => { state.value = { ...state.value, count: count + 1 }; } }, "Pay " + count),
        h("button", { id: "other", type: "button" }, "Other " + count),
        count > 1 ? h("em", "more") : null,
      ]),
      h("ul", { id: "list" }, [h(Fragment, items.map((item) => h("li", { key: item, class: "item" }, [h("span", item), " ", h("i", String(count))])))]),
      hasSummary ? h("section", { class: "summary" }, [h("label", ["Code ", h("input", { name: "code", required: true })]), h("p", "Total " + count)]) : null,
      h("footer", "End " + count),
    ]);
  } });
  return { app, state };
}`;

const SERVER = `${SHOP}
import { renderToString } from "vue/server-renderer";
export const render = (state) => renderToString(createShop(state).app);`;

const CLIENT = `${SHOP}
import { nextTick } from "vue";
const { app, state } = createShop(${JSON.stringify(FIRST_STATE)});
app.mount("#root");
window.shop = { show: (next) => { state.value = next; return nextTick(); }, unmount: () => app.unmount() };`;

const FLAGS = {
  __VUE_OPTIONS_API__: "true",
  __VUE_PROD_DEVTOOLS__: "false",
  __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "true",
};

/** The shop in Vue, with `createSSRApp`. */
export const vue: Framework = {
  name: "Vue",
  async build(mode) {
    const content = await renderOnServer(SERVER, mode, { define: FLAGS });
    return { html: toDocument(content), client: await bundleForPage(CLIENT, mode, { define: FLAGS }) };
  },
};

const ASYNC_PAGE = `
import { createSSRApp, h, ref, Suspense } from "vue";
const Slow = { async setup() {
  await globalThis.slowData;
  const count = ref(1);
  return () => h("section", { class: "slow" }, [h("b", { onClick: () => count.value++ }, "slow " + count.value)]);
} };
export const createPage = () => createSSRApp({ render: () => h(Suspense, null, { default: () => h(Slow) }) });`;

const ASYNC_SERVER = `${ASYNC_PAGE}
import { renderToString } from "vue/server-renderer";
export const render = () => renderToString(createPage());`;

const ASYNC_CLIENT = `
globalThis.slowData = new Promise((resolve) => { window.resolveData = resolve; });
${ASYNC_PAGE}
createPage().mount("#root");`;

/** Builds a page whose root is an asynchronous component. Vue hydrates the page when `window.resolveData` is called. */
export async function buildAsyncVuePage(mode: BuildMode): Promise<BuiltShop> {
  const content = await renderOnServer(ASYNC_SERVER, mode, { define: FLAGS });
  return { html: toDocument(content), client: await bundleForPage(ASYNC_CLIENT, mode, { define: FLAGS }) };
}
