import type { PageElement } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";
import { quote } from "./quote.ts";

const TARGET_CHARS_MAX = 60;
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/**
 * Where a link leads, briefly: a path on the page's own site, otherwise the host and path, or an address such as
 * `mailto:a@b.example`. Empty if the link runs a script, or if its name already says the target, as with a link
 * "Terms" to `/terms`.
 */
export function targetOf(link: PageElement, name: string): string {
  const raw = dom.localName(link) === "a" ? dom.getAttribute(link, "href") : null;
  const href = dom.property(link, "href");
  if (raw === null || typeof href !== "string") return "";
  if (raw.startsWith("#")) return `to ${quote(raw, TARGET_CHARS_MAX)}`;
  const url = URL.parse(href);
  if (!url || url.protocol === "javascript:") return "";
  const isWeb = /^https?:$/.test(url.protocol);
  const path = `${url.pathname}${url.search}${url.hash}`;
  const target = url.origin === location.origin ? path : isWeb ? `${url.host}${path}` : href;
  const isOwn = url.origin === location.origin && url.search === "" && url.hash === "";
  const said = new Set(wordsOf(name));
  const last = decode(url.pathname.replace(/\/$/, "").split("/").at(-1) ?? "").replace(/\.\w{1,5}$/, "");
  const isSaid = isOwn ? wordsOf(last).every((word) => said.has(word)) : name.includes(decode(url.pathname));
  return isSaid && (isOwn || !isWeb) ? "" : `to ${quote(target, TARGET_CHARS_MAX)}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // An address may contain a `%` that encodes nothing.
    return text;
  }
}
