/**
 * The work of `npm run build:runtime`: builds the script that applies variants (changes to a page) in a browser. The
 * built script is committed.
 */
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";

/** The file that contains the built runtime. */
export const runtimeFile = "public/variant-runtime.js";

/** Matches the names of properties that only the runtime itself reads, so that the build can shorten these names. */
const privateNames =
  /^(?:adopt|adoptSheet|effect|hasLost|hasRunningScripts|isDocumentHydrated|isIntact|isLost|isUnmatched|parts|reconcile|roots|search|undo|verify)$/;

/**
 * Bundles the runtime.
 * @returns {Promise<string>} JavaScript statements that apply the variant in the variable `variant`
 */
export async function bundleRuntime() {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: ["lib/variant/runtime/main.ts"],
    // Replaces the names of global variables by the values that they have when the runtime starts.
    inject: ["lib/variant/runtime/kept-globals-main.ts"],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    mangleProps: privateNames,
    legalComments: "none",
    write: false,
  });
  // Minifies the output again, with the copy of terser that Next includes. This saves another 5 %.
  const { minify } = createRequire(import.meta.url)("next/dist/compiled/terser");
  const source = outputFiles.map(({ text }) => text).join("");
  const { code } = await minify(source, {
    ecma: 2020,
    compress: { passes: 3, pure_getters: true, unsafe: true },
  });
  return `${code}\n`;
}

/** Builds the runtime and writes the output file. */
export async function buildRuntime() {
  writeFileSync(runtimeFile, await bundleRuntime());
}
