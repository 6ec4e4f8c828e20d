import type { PageWatch } from "./page-watch.ts";

/** A link that leads nowhere. `status` is null for a fragment that no element of the page has. */
type DeadLink = { url: string; changeId: string | null; status: number | null };

/**
 * Requests the addresses of links with GET, from inside the page, and looks up fragments of the page. An address that
 * cannot be requested, for example because of the page's content policy, is left out.
 */
export async function followLinks(
  watch: PageWatch,
  { urls, timeoutMs }: { urls: string[]; timeoutMs: number },
): Promise<DeadLink[]> {
  const kit = watch.newKit();
  const { dom } = kit;
  const links = dom
    .querySelectorAll(document, "a[href]")
    .map((link) => ({ link, url: URL.parse(dom.getAttribute(link, "href") ?? "", document.baseURI)?.href }));
  const findChange = (url: string) =>
    watch.changes.find((change) =>
      watch.verifier
        .touched(kit, change)
        .some((element) =>
          links.some(
            (each) =>
              each.url === url && (dom.contains(element, each.link) || dom.contains(each.link, element)),
          ),
        ),
    )?.id ?? null;
  const hasTarget = (fragment: string) =>
    fragment === "" ||
    fragment === "top" ||
    dom
      .querySelectorAll(document, "[id], a[name]")
      .some((element) =>
        [dom.getAttribute(element, "id"), dom.getAttribute(element, "name")].includes(fragment),
      );
  const here = location.href.replace(/#.*$/s, "");
  const found = await Promise.all(
    urls.map(async (url): Promise<DeadLink[]> => {
      const [address = "", fragment] = url.split("#");
      const changeId = findChange(url);
      // Routers use fragments such as `#/cart` as addresses.
      if (address === here && fragment !== undefined)
        return fragment.startsWith("/") || fragment.startsWith("!") || hasTarget(decodeURI(fragment))
          ? []
          : [{ url, changeId, status: null }];
      try {
        const signal = AbortSignal.timeout(timeoutMs);
        const response = await fetch(address, { method: "GET", credentials: "same-origin", signal });
        await response.body?.cancel();
        return response.status >= 400 ? [{ url, changeId, status: response.status }] : [];
      } catch {
        return [];
      }
    }),
  );
  return found.flat();
}
