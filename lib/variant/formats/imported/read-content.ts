import type { ChangeInput } from "../../document.ts";
import { readText } from "../portable/html.ts";

/** Creates the change that sets an element's HTML, or its text if the HTML has no markup. */
export function toContentChange(selector: string, html: string): ChangeInput {
  // HTML with markup is not parsed here, because its size has not been checked yet.
  const text = /<[A-Za-z/!?]/.test(html) ? undefined : readText(html);
  return text === undefined ? { op: "setHtml", selector, html } : { op: "setText", selector, text };
}
