import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { VariantDocument, VariantPage } from "../document.ts";
import { compilePage } from "./compile-page.ts";

/** The source of the built runtime. Its statements start the variant that the variable `variant` contains. */
const runtime = readFileSync(join(import.meta.dirname, "../../../public/variant-runtime.js"), "utf8").trim();

/** Converts a value to JavaScript source that is safe inside a script element and in older browsers. */
const toSource = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

function toPageSource(page: VariantPage): string {
  const json = toSource(compilePage(page));
  return page.js.trim() === "" ? json : `{...${json},js(){\n${page.js}\n}}`;
}

/**
 * Compiles a document to a script that applies it: the runtime, called with the compiled document. The script does
 * nothing in frames. If it runs again in a page that already runs the variant `key`, it updates the running variant.
 *
 * @throws Error if the document's HTML is invalid. `checkDocumentContent` reports such HTML earlier.
 */
export const variantScript = (document: VariantDocument, key: string): string => {
  const pages = document.pages.map(toPageSource).join(",");
  return `window===window.top&&(variant=>{${runtime}})({key:${toSource(key)},pages:[${pages}]});\n`;
};
