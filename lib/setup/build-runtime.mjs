/**
 * The work of `npm run build:runtime`: builds the script that applies variants (changes to a page) in a browser. The
 * built script is committed.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const runtimeFolder = "lib/injected/runtime";

/** The file that contains the built runtime. */
export const runtimeFile = "public/variant-runtime.js";

/** The names of properties that only the runtime itself reads, so that the build can shorten these names. */
const privateNames =
  "adopt adoptSheet announcedModule count effect hasLost hasRunningScripts history documentScript isIntact isLost isUnmatched label page parts put reconcile roots search stop times undo verify watched".split(
    " ",
  );

/**
 * The names of properties in the state that scripts of different releases share, and their short names. The short names
 * must stay the same while the version of the state in `shared-state.ts` does.
 */
const sharedNames = Object.fromEntries(
  "placeholder follower home newParent places lostMs look built placed sources lost moved slots contents guards listeners changed copies original shown edits isPart stash texts moves own placeholders"
    .split(" ")
    .map((name, index) => [name, "zyxwvutsrqponmlkjihgfedcba$_".charAt(index)]),
);

/** The functions of `make-dom.ts` that make members. Calls of these functions whose results are not used are dropped. */
const memberMakers =
  "read call readNode callNode callTarget readElement callElement readDocument callDocument choose".split(
    " ",
  );

const keptFunctions = `import {
  "Reflect.apply" as apply, "Reflect.get" as getProperty, "Reflect.set" as setProperty, "Reflect.getPrototypeOf" as getPrototypeOf,
  "Reflect.getOwnPropertyDescriptor" as getOwnPropertyDescriptor,
} from "./kept-globals-main.ts";`;

/**
 * Turns the members that `lib/dom/make-dom.ts` returns into the exports of a module, so that unused ones are dropped and
 * the names of the others can be shortened. Each member begins on a line that is indented by four spaces.
 * @param {string} source
 */
function exportMembers(source) {
  const [, before = "", members = ""] =
    /\nexport function makeDom\(\) \{\n(.*)\n {2}return \{\n(.*)\n {2}\};\n\}\n$/s.exec(source) ?? [];
  const exported = members
    .replace(/^ {4}(?:\/\*\*.*?\*\/|\/\/[^\n]*)\n/gms, "")
    .split(/\n+(?= {4}\w)/)
    .map((member) => {
      const [, name = "", separator = "", rest = ""] = /^ {4}(\w+)([:(,])(.*?),?$/s.exec(member) ?? [];
      if (name === "") throw new Error(`make-dom.ts has a member that cannot be read: ${member}`);
      const alias = `export { own_${name} as ${name} };`;
      if (separator === "(") return `function own_${name}(${rest}\n${alias}`;
      return `const own_${name} = ${separator === ":" ? rest : name};\n${alias}`;
    });
  // The runtime has kept the functions of `Reflect` already.
  const kept = before.replace(/const \{ apply,.*\} = Reflect;/, keptFunctions);
  // Calls of the makers have no effect but their result.
  const pure = kept.replace(/ = (?=(?:read|call|choose)\w*[<(])/g, " = /* @__PURE__ */ ");
  return [pure, ...exported].join("\n");
}

/**
 * Replaces the names of a module's number constants by the numbers. The minifiers do not, because functions use them.
 * @param {string} source
 */
function inlineNumbers(source) {
  const definition = /^const ([A-Z_]+) = (-?[\d_]+);$/gm;
  let inlined = source.replace(definition, "");
  for (const [, name, number = ""] of source.matchAll(definition))
    inlined = inlined.replace(RegExp(`\\b${name}\\b`, "g"), number);
  return inlined;
}

/** @type {import("esbuild").Plugin} */
const domAsModule = {
  name: "dom-as-module",
  setup({ onLoad }) {
    onLoad({ filter: /runtime\/dom\.ts$/ }, () => ({
      contents: exportMembers(readFileSync("lib/dom/make-dom.ts", "utf8")),
      loader: "ts",
    }));
    onLoad({ filter: /runtime\/[\w-]+\.ts$/ }, ({ path }) => ({
      contents: inlineNumbers(
        readFileSync(path, "utf8").replace("import { dom } from", "import * as dom from"),
      ),
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
    plugins: [domAsModule],
    // Replaces the names of global variables by the values that they have when the runtime starts.
    inject: [`${runtimeFolder}/kept-globals-main.ts`],
    bundle: true,
    minifySyntax: true,
    minifyWhitespace: true,
    format: "esm",
    target: "es2022",
    mangleProps: RegExp(`^(?:${[...privateNames, ...Object.keys(sharedNames)].join("|")})$`),
    mangleCache: { ...sharedNames },
    legalComments: "none",
    write: false,
  });
  // Minifies the output again, with the copy of terser that Next includes. This saves another 5 %.
  const { minify } = createRequire(import.meta.url)("next/dist/compiled/terser");
  const source = outputFiles.map(({ text }) => text).join("");
  const { code } = await minify(source, {
    ecma: 2020,
    toplevel: true,
    format: { wrap_func_args: false },
    compress: {
      ...{ passes: 10, pure_getters: true, unsafe: true, unsafe_arrows: true, pure_funcs: memberMakers },
      // Brotli compresses the longer forms better.
      ...{ booleans: false, inline: 1 },
    },
  });
  return `${code}\n`;
}

/** Builds the runtime and writes the output file. */
export async function buildRuntime() {
  writeFileSync(runtimeFile, await bundleRuntime());
}
