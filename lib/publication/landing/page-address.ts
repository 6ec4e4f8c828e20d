/** The path below which landing pages are served. Source: `wire.md`, Landing pages. */
export const PAGES_FOLDER = "/p/";

const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Whether a text has the form of a page's slug. */
export const isSlug = (text: string): boolean => SLUG.test(text);

/**
 * Builds the URL of a page.
 *
 * @param origin the public origin of pages, without a trailing slash
 */
export const pageUrl = (origin: string, slug: string): string => `${origin}${PAGES_FOLDER}${slug}/`;

/** Maximum length of a raw path. The longest path of a file has about 2,700 characters when it is encoded. */
const PATH_CHARACTERS_MAX = 4_096;

/**
 * The two parts of a request's path below `/p/`. `path` is the path inside the page. It is empty for the page itself,
 * and ends with `/` for a folder. It is undefined if the request's path ends with the slug and lacks the slash after it,
 * and null if no file can have the path.
 */
type PageAddress = { slug: string; path: string | undefined | null };

/**
 * Parses the raw path of a request. Each segment is decoded once and then checked, so an encoded slash, backslash or
 * dot segment cannot be used to reach another file.
 *
 * @param pathname the raw path, without the query
 * @returns undefined if the path names no page.
 */
export function readPageAddress(pathname: string): PageAddress | undefined {
  const [, folder, slug = "", ...rest] = pathname.split("/");
  if (folder !== "p" || !isSlug(slug)) return undefined;
  if (rest.length === 0) return { slug, path: undefined };
  if (pathname.length > PATH_CHARACTERS_MAX) return { slug, path: null };
  const names = rest.map(decode);
  const isFile = (name: string | undefined, index: number) =>
    name !== undefined && (name !== "" || index === names.length - 1);
  return { slug, path: names.every(isFile) ? names.join("/") : null };
}

/** Decodes a segment of a path. Returns undefined if no file or folder can have the decoded name. */
function decode(segment: string): string | undefined {
  try {
    const name = decodeURIComponent(segment);
    return isSafeName(name) ? name : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a file or folder of a page may have this name. Not allowed are `.` and `..`, slashes and backslashes, control
 * characters, line and paragraph separators, lone surrogates, and the replacement character U+FFFD. The empty name is
 * allowed, because a path that ends with a slash has an empty last name.
 */
export const isSafeName = (name: string): boolean =>
  name !== "." && name !== ".." && name.isWellFormed() && !/[/\\\p{Cc}\u2028\u2029\ufffd]/u.test(name);

/** Encodes a path inside a page for a URL. */
export const encodePath = (path: string): string => path.split("/").map(encodeURIComponent).join("/");
