import type { PageMatch } from "../document.ts";

/** The part of a variant's page that says which addresses it matches. */
type AddressRule = { url: string; match: PageMatch };

const escapeText = (text: string) => text.replace(/[\\^$.|?+()[\]{}*]/g, "\\$&");

/**
 * Builds the source of a regular expression for the addresses that match a rule. The fragment is never compared. The
 * query is compared neither for `path` nor for a `glob` without `?`. For `exact`, `path` and `prefix`, an invalid `url`
 * matches no address.
 */
export function toAddressPattern({ url, match }: AddressRule): string {
  const fragment = "(#.*)?$";
  const query = "(\\?[^#]*)?";
  if (match === "glob") {
    const [any, part] = url.includes("?") ? ["[^#]*", "[^/#]*"] : ["[^?#]*", "[^/?#]*"];
    const parts = url
      .split(/(\*+)/)
      .map((text) => (text.startsWith("**") ? any : text === "*" ? part : escapeText(text)));
    return `^${parts.join("")}${url.includes("?") ? "" : query}${fragment}`;
  }
  if (!URL.canParse(url)) return "(?!)";
  const address = escapeText(new URL(url).href.replace(/#.*$/s, ""));
  if (match === "prefix") return `^${address}`;
  if (match === "exact") return `^${address}${fragment}`;
  return `^${address.replace(/\\\?.*$/s, "")}${query}${fragment}`;
}

/** Whether an address matches a rule. */
export const matchesAddress = (rule: AddressRule, href: string): boolean =>
  RegExp(toAddressPattern(rule), "s").test(href);
