/** `npm run build:runtime`: builds the runtime of variants, which is committed, as one script for browsers. */
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";

/** Output file of the runtime. */
export const runtimeFile = "public/variant-runtime.js";

/** Properties that only the runtime itself reads; their names are shortened. */
const privateNames =
  /^(?:adoptSheet|hasLost|hasRunningScripts|isDocumentHydrated|isIntact|isLost|isUnmatched|reconcile|undo|verify)$/;

/**
 * Bundles the runtime.
 * @returns {Promise<string>} statements that run the variant named `variant`
 */
export async function bundleRuntime() {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: ["lib/variant/runtime/main.ts"],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    mangleProps: privateNames,
    legalComments: "none",
    write: false,
  });
  // Next's own copy of terser saves another 5 %.
  const { minify } = createRequire(import.meta.url)("next/dist/compiled/terser");
  const source = outputFiles.map(({ text }) => text).join("");
  const { code } = await minify(source, {
    ecma: 2020,
    compress: { passes: 3, pure_getters: true, unsafe: true },
  });
  return `${code}\n`;
}

/** Writes the output file. */
export async function buildRuntime() {
  writeFileSync(runtimeFile, await bundleRuntime());
}
