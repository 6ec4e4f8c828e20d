import { matchesAddress } from "#lib/injected/runtime/match-address.ts";
import type { VariantDocument, VariantPage } from "../document.ts";

/** An entry of `pages` in a check request: an address, and clicks that open what is behind an interaction there. */
export type CheckEntry = { url: string; open: { click: string }[] };

/**
 * The addresses that a check opens, without duplicates. `unopenable` has the address patterns for which no address is
 * known.
 */
export type ChosenPages = { urls: string[]; unopenable: { url: string; message: string }[] };

/**
 * Chooses an address for each entry of `pages` that has an effect. An entry with the match `exact` or `path` prefers
 * its own address. Any other entry prefers the address of the live page. The own address of an entry is never chosen if
 * it has wildcards, because such an address cannot be opened.
 */
export function choosePages(
  { pages }: VariantDocument,
  liveUrl: string,
  entries: CheckEntry[] = [],
): ChosenPages {
  const chosen: ChosenPages = { urls: [], unopenable: [] };
  for (const [index, { url }] of entries.entries()) {
    const isKnown = pages.some((page) => isEffective(page) && matchesAddress(page, url));
    const message = `pages[${index}].url: the variant does not change ${url}. Name an address that an entry of the variant matches.`;
    if (!isKnown) chosen.unopenable.push({ url, message });
    else if (!chosen.urls.includes(withoutFragment(url))) chosen.urls.push(withoutFragment(url));
  }
  const named = [...chosen.urls];
  for (const page of pages.filter(isEffective)) {
    if (named.some((each) => matchesAddress(page, each))) continue;
    const url = chooseUrl(page, liveUrl);
    if (url === undefined) {
      const message = `No page is known for the ${page.match} pattern ${page.url}. Open a page that matches it in the live browser, and check again.`;
      chosen.unopenable.push({ url: page.url, message });
    } else if (!chosen.urls.includes(url)) chosen.urls.push(url);
  }
  return chosen;
}

/** Lists the steps for an address. `field` names each step in the check request. */
export const listSteps = (entries: CheckEntry[], url: string): { field: string; selector: string }[] =>
  entries.flatMap((entry, index) =>
    withoutFragment(entry.url) === url
      ? entry.open.map(({ click }, step) => ({
          field: `pages[${index}].open[${step}].click`,
          selector: click,
        }))
      : [],
  );

/** The address as URLs are compared: normalized, and without a fragment. */
function withoutFragment(address: string): string {
  const url = URL.parse(address);
  if (!url) return address;
  url.hash = "";
  return url.href;
}

/** Whether an entry of `pages` has an effect: it has CSS, a script, or a change that is not off. */
export const isEffective = ({ changes, css, js }: VariantPage): boolean =>
  changes.some(({ off }) => off !== true) || css.trim() !== "" || js.trim() !== "";

/**
 * Chooses an address that the entry matches, and removes the address's fragment. Undefined if no such address is known.
 */
function chooseUrl(page: VariantPage, liveUrl: string): string | undefined {
  const isPattern = page.match === "glob" && page.url.includes("*");
  const own = isPattern ? null : URL.parse(page.url);
  if (own) own.hash = "";
  const live = liveUrl.replace(/#.*$/s, "");
  const isOwnFirst = page.match === "exact" || page.match === "path";
  const candidates = isOwnFirst ? [own?.href, live] : [live, own?.href];
  return candidates.find((url) => url !== undefined && /^https?:/.test(url) && matchesAddress(page, url));
}
