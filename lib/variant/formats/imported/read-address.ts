import type { PageMatch } from "../../document.ts";
import { toAddressPattern } from "../../runtime/match-address.ts";

export type Address = { url: string; match: PageMatch };

/** Parts of regular expressions that match any characters, each with the glob wildcard of the same meaning. */
const WILDCARDS: [pattern: string, wildcard: string][] = [
  ["[^?#]*", "**"],
  ["[^#]*", "**"],
  ["[^/?#]*", "*"],
  ["[^/#]*", "*"],
  [".*", "**"],
];
const QUERY = "(\\?[^#]*)?";
const FRAGMENT = "(#.*)?";

/**
 * Converts a regular expression to a glob, without running it. Undefined if the expression has anything other than
 * literal text and wildcards.
 */
function readParts(pattern: string): string | undefined {
  let url = "";
  for (let index = 0; index < pattern.length; ) {
    const wildcard = WILDCARDS.find(([text]) => pattern.startsWith(text, index));
    const [, escaped] = /^\\([^A-Za-z0-9])/.exec(pattern.slice(index, index + 2)) ?? [];
    const character = escaped ?? pattern[index] ?? "";
    if (!wildcard && (escaped === "*" || (escaped === undefined && /[\\^$.|?+()[\]{}*]/.test(character))))
      return undefined;
    url += wildcard?.[1] ?? character;
    index += wildcard?.[0].length ?? (escaped === undefined ? 1 : 2);
  }
  return url;
}

const isSame = (address: Address, pattern: string) => toAddressPattern(address) === pattern;

/**
 * Converts a regular expression to an address pattern of a variant's page. Accepts all expressions that exports of this
 * service contain, and simple expressions of other tools, such as `^https://shop.example/cart`. Undefined for any other
 * expression.
 */
export function readRegex(source: string): Address | undefined {
  const pattern = source.replaceAll("\\/", "/");
  if (!/^\^https?:/.test(pattern)) return undefined;
  const isEnded = pattern.endsWith("$") && !pattern.endsWith("\\$");
  let body = pattern.slice(1, isEnded ? -1 : undefined);
  if (isEnded && body.endsWith(FRAGMENT)) body = body.slice(0, -FRAGMENT.length);
  if (isEnded && body.endsWith(QUERY)) body = body.slice(0, -QUERY.length);
  if (body.endsWith(".*") && !body.endsWith("\\.*")) body = body.slice(0, -2);
  const url = readParts(body);
  if (url === undefined) return undefined;
  if (url.includes("*")) {
    const glob: Address = { url, match: "glob" };
    return isSame(glob, pattern) ? glob : undefined;
  }
  if (!URL.canParse(url)) return undefined;
  const ours = (["path", "exact", "glob", "prefix"] as const).find((match) =>
    isSame({ url, match }, pattern),
  );
  if (ours) return { url, match: ours };
  // Any other expression comes from another tool. If it ends with `$` and nothing else was cut off above, it compares
  // the whole address. If it has no `$`, or ends with `.*`, it compares the start of the address.
  const isWhole = isEnded && body === pattern.slice(1, -1);
  return isWhole || body === pattern.slice(1) || /\.\*\$?$/.test(pattern)
    ? { url, match: isWhole ? "exact" : "prefix" }
    : undefined;
}

/**
 * Converts a simple pattern of GrowthBook to an address pattern of a variant's page. A simple pattern compares host and
 * path, and `*` in it stands for any characters. If the pattern has no protocol, `https` is used. If it begins with a
 * path, it matches every host. Undefined if the pattern is empty, contains white space, or also compares the query or
 * the fragment.
 */
export function readSimplePattern(source: string): Address | undefined {
  const pattern = source.trim();
  if (pattern === "" || /[?#\s]/.test(pattern)) return undefined;
  const isHostFirst = /^[^:/]*\./.test(pattern);
  const absolute = isHostFirst ? `https://${pattern}` : pattern.replace(/^\/?(?!https?:)/, "https://*/");
  const [, scheme = "", host = "", path = "/"] = /^(https?):\/\/([^/]+)(\/.*)?$/i.exec(absolute) ?? [];
  if (host === "") return undefined;
  const url = `${scheme.toLowerCase()}://${host.toLowerCase()}`;
  if (!absolute.includes("*")) return { url: url + path, match: "path" };
  return { url: url.replace(/\*+/g, "*") + path.replace(/\*+/g, "**"), match: "glob" };
}
