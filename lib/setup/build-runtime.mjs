/**
 * The work of `npm run build:runtime`: builds the script that applies variants (changes to a page) in a browser. The
 * built script is committed.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const runtimeFolder = "lib/variant/runtime";

/** The file that contains the built runtime. */
export const runtimeFile = "public/variant-runtime.js";

/** Matches the names of properties that only the runtime itself reads, so that the build can shorten these names. */
const privateNames =
  /^(?:adopt|adoptSheet|effect|hasLost|hasRunningScripts|isDocumentHydrated|isIntact|isLost|isUnmatched|parts|reconcile|roots|search|undo|verify)$/;

/** The functions of `make-dom.ts` that make members. Calls of these functions whose results are not used are dropped. */
const memberMakers =
  "read call readNode callNode callTarget readElement callElement readDocument callDocument choose".split(
    " ",
  );

/**
 * Removes from `lib/dom/make-dom.ts` the members that the runtime does not use. The members are the properties of the
 * returned object; each begins on a line that is indented by four spaces.
 * @param {string} source
 */
function dropUnusedMembers(source) {
  const files = readdirSync(runtimeFolder).filter((name) => name.endsWith(".ts"));
  const code = files.map((name) => readFileSync(join(runtimeFolder, name), "utf8")).join("");
  const used = new Set([...code.matchAll(/(?<![/-])\bdom\.(\w+)/g)].map(([, name]) => name));
  const [, before = "", members = "", after = ""] =
    /^(.*\n {2}return \{\n)(.*)(\n {2}\};\n.*)$/s.exec(source) ?? [];
  const kept = members.split(/\n+(?= {4}\w)/).filter((member) => used.has(/\w+/.exec(member)?.[0] ?? ""));
  if (kept.length < used.size) throw new Error("make-dom.ts lacks a member that the runtime uses");
  return before + kept.join("\n") + after;
}

/** @type {import("esbuild").Plugin} */
const unusedMembers = {
  name: "unused-members",
  setup({ onLoad }) {
    onLoad({ filter: /make-dom\.ts$/ }, ({ path }) => ({
      contents: dropUnusedMembers(readFileSync(path, "utf8")),
      loader: "ts",
    }));
  },
};

/**
 * Bundles the runtime.
 * @returns {Promise<string>} JavaScript statements that apply the variant in the variable `variant`
 */
export async function bundleRuntime() {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [`${runtimeFolder}/main.ts`],
    plugins: [unusedMembers],
    // Replaces the names of global variables by the values that they have when the runtime starts.
    inject: [`${runtimeFolder}/kept-globals-main.ts`],
    bundle: true,
    minifySyntax: true,
    minifyWhitespace: true,
    format: "esm",
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
    toplevel: true,
    compress: { passes: 3, pure_getters: true, unsafe: true, unsafe_arrows: true, pure_funcs: memberMakers },
  });
  return `${code}\n`;
}

/** Builds the runtime and writes the output file. */
export async function buildRuntime() {
  writeFileSync(runtimeFile, await bundleRuntime());
}
