import type { VariantDocument } from "./document.ts";

/** The address of the page that the documents of tests change. */
export const HOME = "https://shop.example/";

/** A change of the heading's text. */
export const text = (id: string, words: string) => ({
  id,
  op: "setText" as const,
  selector: "h1",
  text: words,
});

/** A page entry with these changes. */
export const page = (url: string, ...changes: VariantDocument["pages"][number]["changes"]) => ({
  url,
  match: "path" as const,
  changes,
  css: "",
  js: "",
});

export const EMPTY: VariantDocument = { pages: [] };
