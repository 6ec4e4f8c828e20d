/** How a page's address is compared with the `url` of an entry in `pages`. The fragment is never compared. */
export type PageMatch = "exact" | "path" | "prefix" | "glob";

type Address = { url: string; match: PageMatch };

/** The part of a variant's page that says which addresses it matches. An address that `exclude` matches is none. */
type AddressRule = Address & { exclude?: Address[] | undefined };

const escapeText = (text: string) => text.replace(/[\\^$.|?+()[\]{}*]/g, "\\$&");

/**
 * Builds the source of a regular expression for the addresses that match a rule. The fragment is never compared. The
 * query is compared neither for `path` nor for a `glob` without `?`. For `exact`, `path` and `prefix`, an invalid `url`
 * matches no address.
 */
export function toAddressPattern({ exclude = [], ...included }: AddressRule): string {
  return exclude.map((each) => `(?!${toPattern(each)})`).join("") + toPattern(included);
}

function toPattern({ url, match }: Address): string {
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
export const matchesAddress = ({ exclude = [], ...included }: AddressRule, href: string): boolean =>
  isMatch(included, href) && !exclude.some((each) => isMatch(each, href));

const isMatch = (address: Address, href: string): boolean =>
  address.match === "glob" ? matchesGlob(address.url, href) : RegExp(toPattern(address), "s").test(href);

/**
 * Matches like the pattern of {@link toAddressPattern}, but never backtracks: a regular expression with several wildcards
 * could take hours for a prepared glob and address.
 */
function matchesGlob(glob: string, href: string): boolean {
  const hasQuery = glob.includes("?");
  /** Whether the parts so far can match the address up to each position. */
  let reached = new Uint8Array(href.length + 1);
  reached[0] = 1;
  for (const part of glob.split(/(\*+)/)) {
    const next = new Uint8Array(href.length + 1);
    const ends = hasQuery ? "#" : "?#";
    const stops = part === "*" ? `/${ends}` : ends;
    for (let at = 0; at <= href.length; at++) {
      if (part.startsWith("*")) {
        const continues = at > 0 && next[at - 1] === 1 && !stops.includes(href.charAt(at - 1));
        next[at] = reached[at] === 1 || continues ? 1 : 0;
      } else if (reached[at] === 1 && href.startsWith(part, at)) next[at + part.length] = 1;
    }
    reached = next;
  }
  // After the glob, only a fragment may follow, or also a query if the glob has none.
  return reached.some(
    (isReached, at) =>
      isReached === 1 && (at === href.length || href[at] === "#" || (!hasQuery && href[at] === "?")),
  );
}
