import { createRequire } from "node:module";
import { resolve } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";

/**
 * The state of the tests' shop. Each framework renders the same elements from the state, first on the server and then
 * in the page. In the page, `window.shop.show(state)` renders a new state, and `window.shop.unmount()` removes the
 * shop.
 */
export type ShopState = {
  count: number;
  items: string[];
  hasSummary: boolean;
  /** The key of the rendered elements. A different key makes the framework create new elements. */
  generation: number;
};

/** The state that the server renders. */
export const FIRST_STATE: ShopState = {
  count: 1,
  items: ["apple", "pear", "plum"],
  hasSummary: true,
  generation: 1,
};

export type BuildMode = "development" | "production";

/** A shop that is rendered on the server and whose client script is bundled. */
export type BuiltShop = {
  /** The HTML of the document, which loads the client script from `/client.js`. */
  html: string;
  client: string;
};

/** A framework that renders the shop on the server and hydrates it in the page. */
export type Framework = { name: string; build: (mode: BuildMode) => Promise<BuiltShop> };

/** Puts the HTML that the server rendered into a document. */
export const toDocument = (content: string, head = ""): string =>
  `<!doctype html><html><head><title>Shop</title>${head}<script type="module" src="/client.js"></script></head><body><div id="root">${content}</div></body></html>`;

const root = resolve(import.meta.dirname, "../../../..");

/** Bundles a module for the page. */
export async function bundleForPage(
  source: string,
  mode: BuildMode,
  options: BuildOptions & { plugins?: Plugin[] } = {},
): Promise<string> {
  const { outputFiles = [] } = await build({
    stdin: { contents: source, resolveDir: root, loader: "jsx" },
    bundle: true,
    write: false,
    format: "esm",
    jsx: "automatic",
    jsxDev: false,
    minify: mode === "production",
    conditions: [mode],
    logLevel: "error",
    ...options,
    define: { "process.env.NODE_ENV": JSON.stringify(mode), ...options.define },
  });
  return outputFiles.map(({ text }) => text).join("");
}

/** Bundles a module for Node, and runs it. @returns what the module exports. */
export async function loadOnServer(
  source: string,
  mode: BuildMode,
  options: BuildOptions = {},
): Promise<Record<string, unknown>> {
  const code = await bundleForPage(source, mode, {
    platform: "node",
    format: "cjs",
    minify: false,
    ...options,
  });
  const module = { exports: {} as Record<string, unknown> };
  const run = new Function("module", "exports", "require", code);
  run(module, module.exports, createRequire(import.meta.url));
  return module.exports;
}

/** Renders the shop on the server, with the `render` function that the module `source` exports. */
export async function renderOnServer(
  source: string,
  mode: BuildMode,
  options: BuildOptions = {},
): Promise<string> {
  const { render } = await loadOnServer(source, mode, options);
  if (typeof render !== "function") throw new Error("the module has no render");
  return String(await render(FIRST_STATE));
}
