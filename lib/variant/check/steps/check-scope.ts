import type { SeenPage } from "#lib/injected/check/read-changes.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import type { Finding } from "../check-report.ts";
import type { CheckTarget } from "../load/check-context.ts";
import { makeFinding } from "../make-finding.ts";

const IDS_SHOWN = 3;
const ADDRESS_SHOWN = 200;

/**
 * Finds changes that reach further than one element of one page: selectors that match several elements, ids that are
 * no longer unique, and address patterns that also match addresses of another name.
 */
export const checkScope = (target: CheckTarget, control: SeenPage, seen: SeenPage): Finding[] => [
  ...checkMatches(target, control, seen),
  ...checkIds(target, control, seen),
  ...checkPrefixes(target, control),
];

function checkMatches(target: CheckTarget, control: SeenPage, seen: SeenPage): Finding[] {
  return target.changes.flatMap(({ id, op, selector }) => {
    const count = Math.max(seen.changes[id]?.matched ?? 0, control.changes[id]?.matched ?? 0);
    if (count < 2) return [];
    const message = `"${selector}" matches ${count} elements, and the ${op} applies to all of them. If only one is meant, use a selector that matches only this one.`;
    return [makeFinding(target, "warn", "several_matches", id, message)];
  });
}

function checkIds(target: CheckTarget, control: SeenPage, seen: SeenPage): Finding[] {
  return seen.duplicateIds
    .filter((id) => !control.duplicateIds.includes(id))
    .slice(0, IDS_SHOWN)
    .map((id) => {
      const message = `With the variant, several elements have the id "${id}". Labels, links and scripts of the page find only the first one. Use another id.`;
      return makeFinding(target, "fail", "duplicate_id", null, message);
    });
}

/** Whether an address continues the last word of a prefix, such as `/checkout-help` for `/checkout`. */
function continuesWord(prefix: string, address: string): boolean {
  const next = address.charAt(prefix.length);
  return address.startsWith(prefix) && /[\w%]$/.test(prefix) && /[\w%.-]/.test(next);
}

function checkPrefixes(target: CheckTarget, control: SeenPage): Finding[] {
  return target.prefixes.flatMap((prefix) => {
    const url = URL.parse(prefix)?.href ?? prefix;
    // A prefix whose own page is not the opened one, such as `/product` for `/product1`, is meant to continue.
    if (continuesWord(url, target.url)) return [];
    const isOwnPage = /\w$/.test(url) && target.url.replace(/[?#].*$/s, "") === url;
    const other = control.linked.find((address) => continuesWord(url, address));
    if (other === undefined && !isOwnPage) return [];
    const example = other === undefined ? `addresses such as ${url}-2` : beginningOf(other, ADDRESS_SHOWN);
    const message = `The prefix ${prefix} also matches ${example}. If other pages are not meant, use the match path, or a prefix that ends with "/".`;
    return [makeFinding(target, "warn", "wide_pattern", null, message)];
  });
}
