/**
 * Where a document stores local storage and databases. Chromium separates a frame of another site by the site of its top
 * page, so that the same origin has other storage in other pages.
 */
export type StorageKey = {
  origin: string;
  /** Addresses of documents, outermost first, such that the innermost one has this storage. */
  documents: string[];
};

/** An origin that no page has. It makes a frame of its parent's site count as a frame of another site. */
const OTHER_SITE = "frame.invalid";

/**
 * Parses Chromium's text of a storage key: the origin; then `^0` with the site of the top page for a frame of another
 * site; or `^31` for a frame of the top page's site inside a frame of another site.
 * @returns undefined for storage that ends with its document, and for storage of pages that are not http(s).
 */
export function parseStorageKey(text: string): StorageKey | undefined {
  const [, url = "", suffix = ""] = /^(https?:\/\/[^/^]+)\/(.*)$/.exec(text) ?? [];
  const origin = URL.parse(url)?.origin;
  if (origin === undefined) return undefined;
  const chain = (...origins: string[]) => ({
    origin,
    documents: origins.map((each, depth) => `${each}/${depth}`),
  });
  if (suffix === "") return chain(origin);
  if (suffix === "^31") return chain(origin, `${URL.parse(origin)?.protocol}//${OTHER_SITE}`, origin);
  const [, site = ""] = /^\^0(https?:\/\/[^/^]+)$/.exec(suffix) ?? [];
  const top = URL.parse(site)?.origin;
  return top === undefined ? undefined : chain(top, origin);
}

/** Returns the storage key of pages of an origin. */
export const keyOfPage = (origin: string): string => `${origin}/`;
