import { toAddressPattern } from "#lib/injected/runtime/match-address.ts";
import type { PageMatch } from "../../document.ts";

type PlainAddress = { url: string; match: PageMatch };
/** An address pattern of a page entry, and the addresses that it does not match although the pattern does. */
export type Address = PlainAddress & { exclude?: PlainAddress[] };

/** How many exclusions a page entry may have. */
export const EXCLUSIONS_MAX = 20;

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

const isSame = (address: PlainAddress, pattern: string) => toAddressPattern(address) === pattern;

/**
 * Splits the exclusions that exports write off the start of a regular expression: `(?!…)` for each excluded address.
 * Undefined if a bracket is not closed.
 */
function splitExclusions(pattern: string): { excluded: string[]; rest: string } | undefined {
  const excluded: string[] = [];
  let rest = pattern;
  while (rest.startsWith("(?!") && excluded.length < EXCLUSIONS_MAX) {
    let depth = 1;
    let end = 3;
    for (; depth > 0 && end < rest.length; end += 1) {
      const character = rest[end];
      if (character === "\\") end += 1;
      else if (character === "[") end = rest.indexOf("]", end) < 0 ? rest.length : rest.indexOf("]", end);
      else if (character === "(") depth += 1;
      else if (character === ")") depth -= 1;
    }
    if (depth > 0) return undefined;
    excluded.push(rest.slice(3, end - 1));
    rest = rest.slice(end);
  }
  return { excluded, rest };
}

/**
 * Converts a regular expression to an address pattern of a variant's page, with its exclusions. Undefined if a part has
 * no equivalent.
 */
export function readRegex(source: string): Address | undefined {
  const split = splitExclusions(source);
  if (!split) return undefined;
  const included = readPlainRegex(split.rest);
  const exclude = split.excluded.map(readPlainRegex);
  if (!included || exclude.some((each) => each === undefined)) return undefined;
  const known = exclude.filter((each) => each !== undefined);
  return known.length === 0 ? included : { ...included, exclude: known };
}

/**
 * Converts a regular expression without exclusions to an address pattern. Accepts all expressions that exports of this
 * service contain, and simple expressions of other tools, such as `^https://shop.example/cart`. Undefined for any other
 * expression.
 */
function readPlainRegex(source: string): PlainAddress | undefined {
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
    const glob: PlainAddress = { url, match: "glob" };
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
export function readSimplePattern(source: string): PlainAddress | undefined {
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
