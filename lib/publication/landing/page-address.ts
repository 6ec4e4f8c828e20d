/** Where landing pages are served. Source: `wire.md`, Landing pages. */
export const PAGES_FOLDER = "/p/";

const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Whether a text can be the slug of a page. */
export const isSlug = (text: string): boolean => SLUG.test(text);

/**
 * The URL of a page.
 *
 * @param origin the public origin of pages, without a trailing slash
 */
export const pageUrl = (origin: string, slug: string): string => `${origin}${PAGES_FOLDER}${slug}/`;

const PATH_CHARACTERS_MAX = 1_024;

/** The parsed path of a request below `/p/`. `path` is relative to the page; for a folder, it is empty or ends with `/`. */
type PageAddress = { slug: string; path: string };

/**
 * Parses the raw path of a request. Each segment is decoded once, so that an encoded slash, backslash or dot segment never
 * leads to another file.
 *
 * @param pathname raw path without the query
 * @returns `path: undefined` for a page's address without its trailing slash; undefined for a path that no file can have.
 */
export function readPageAddress(
  pathname: string,
): PageAddress | { slug: string; path: undefined } | undefined {
  if (pathname.length > PATH_CHARACTERS_MAX) return undefined;
  const [, folder, slug = "", ...rest] = pathname.split("/");
  if (folder !== "p" || !isSlug(slug)) return undefined;
  if (rest.length === 0) return { slug, path: undefined };
  const names = rest.map(decode);
  const isFile = (name: string | undefined, index: number) =>
    name !== undefined && (name !== "" || index === names.length - 1);
  return names.every(isFile) ? { slug, path: names.join("/") } : undefined;
}

/** Decodes a segment; undefined if the result cannot be the name of a file. */
function decode(segment: string): string | undefined {
  try {
    const name = decodeURIComponent(segment);
    return isSafeName(name) ? name : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a file or folder of a page can have this name: no separator, dot segment or control character. */
export const isSafeName = (name: string): boolean =>
  name !== "." && name !== ".." && name.isWellFormed() && !/[/\\\p{Cc}\u2028\u2029\ufffd]/u.test(name);

/** Encodes a path inside a page for a URL. */
export const encodePath = (path: string): string => path.split("/").map(encodeURIComponent).join("/");
