import type { ChangeInput } from "../../document.ts";
import { readText } from "../portable/html.ts";

/** Makes the change that sets an element's HTML, or its text if the HTML has no markup. */
export function toContentChange(selector: string, html: string): ChangeInput {
  // Only HTML without markup is parsed here, because the limits on markup are checked later.
  const text = /<[A-Za-z/!?]/.test(html) ? undefined : readText(html);
  return text === undefined ? { op: "setHtml", selector, html } : { op: "setText", selector, text };
}
