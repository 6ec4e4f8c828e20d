import type { PageWatch } from "./page-watch.ts";

/**
 * A link that the page's router possibly handles without loading a document. `index` is the position of the link among
 * all links of the page.
 */
export type RouteLink = { index: number; url: string };

/** Matches addresses and texts of links that may have side effects, such as logging out, deleting or buying. */
export const DANGEROUS_LINK =
  /log-?_?(out|off)|sign-?_?(out|off)|abmelden|delete|remove|destroy|unsubscribe|cancel|revoke|reset|disable|buy|order\/|pay\b|cart\/add|add-to|download|export/i;

/**
 * Finds visible links to other addresses of the page's origin. Leaves out links in forms, links that open another
 * window or a download, and links that may have side effects, such as logging out, deleting or buying.
 *
 * @param dangerous source of {@link DANGEROUS_LINK}
 */
export function findLinks(
  watch: PageWatch,
  { limit, dangerous }: { limit: number; dangerous: string },
): RouteLink[] {
  const isDangerous = new RegExp(dangerous, "i");
  const kit = watch.newKit();
  const { dom } = kit;
  const seen = new Set<string>();
  const links = kit.queryAll("a[href]");
  return links
    .flatMap((link, index): RouteLink[] => {
      if (!(link instanceof HTMLAnchorElement) || !kit.isVisible(link)) return [];
      const { href, target, origin, pathname, search } = link;
      const isSame = pathname === location.pathname && search === location.search;
      if (origin !== location.origin || isSame || seen.has(href)) return [];
      if (
        (target !== "" && target !== "_self") ||
        dom.hasAttribute(link, "download") ||
        dom.closest(link, "form")
      )
        return [];
      if (
        isDangerous.test(
          `${pathname}${search} ${dom.textContent(link) ?? ""} ${dom.getAttribute(link, "aria-label") ?? ""}`,
        )
      )
        return [];
      seen.add(href);
      return [{ index, url: href }];
    })
    .slice(0, limit);
}

/**
 * Clicks a link that {@link findLinks} has found. Does nothing if another link is at the index now.
 */
export function clickLink(watch: PageWatch, { index, url }: RouteLink): void {
  const link = watch.newKit().queryAll("a[href]")[index];
  if (link instanceof HTMLAnchorElement && link.href === url) link.click();
}

/** Goes back in the history. */
export function goBack(): void {
  history.back();
}
