import type { ChangeInput } from "../../document.ts";
import { readText } from "../portable/html.ts";

/** The change that sets HTML: a text if there is nothing else in it. */
export function toContentChange(selector: string, html: string): ChangeInput {
  // Only HTML without markup is parsed here: the check has limits for the rest.
  const text = /<[A-Za-z/!?]/.test(html) ? undefined : readText(html);
  return text === undefined ? { op: "setHtml", selector, html } : { op: "setText", selector, text };
}
