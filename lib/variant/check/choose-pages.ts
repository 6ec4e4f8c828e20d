import type { VariantDocument, VariantPage } from "../document.ts";
import { matchesAddress } from "../runtime/match-address.ts";

/** Addresses to open, without duplicates, and the entries for which no address is known. */
export type ChosenPages = { urls: string[]; unopenable: { url: string; message: string }[] };

/**
 * Chooses an address for each page entry that has an effect. Entries with `exact` and `path` prefer their own address.
 * Other entries prefer the live page's address if it matches, and use their own if it has no wildcards.
 */
export function choosePages({ pages }: VariantDocument, liveUrl: string): ChosenPages {
  const chosen: ChosenPages = { urls: [], unopenable: [] };
  for (const page of pages.filter(isEffective)) {
    const url = chooseUrl(page, liveUrl);
    if (url === undefined) {
      const message = `No page is known for the ${page.match} pattern ${page.url}. Open a page that matches it in the live browser, and check again.`;
      chosen.unopenable.push({ url: page.url, message });
    } else if (!chosen.urls.includes(url)) chosen.urls.push(url);
  }
  return chosen;
}

/** Whether a page entry has an effect: a change that is on, CSS or a script. */
export const isEffective = ({ changes, css, js }: VariantPage): boolean =>
  changes.some(({ off }) => off !== true) || css.trim() !== "" || js.trim() !== "";

/** @returns an address, without its fragment, that the entry matches; undefined if none is known. */
function chooseUrl(page: VariantPage, liveUrl: string): string | undefined {
  const isPattern = page.match === "glob" && page.url.includes("*");
  const own = isPattern ? null : URL.parse(page.url);
  if (own) own.hash = "";
  const live = liveUrl.replace(/#.*$/s, "");
  const isOwnFirst = page.match === "exact" || page.match === "path";
  const candidates = isOwnFirst ? [own?.href, live] : [live, own?.href];
  return candidates.find((url) => url !== undefined && /^https?:/.test(url) && matchesAddress(page, url));
}
