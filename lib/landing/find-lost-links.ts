import { setImmediate as yieldToOthers } from "node:timers/promises";
import { isSlug, PAGES_FOLDER } from "#lib/publication/landing/page-address.ts";
import { findFile } from "#lib/publication/landing/page-server.ts";
import type { PageFile } from "#lib/publication/landing/page-store.ts";
import type { FolderContent } from "./read-folder.ts";
import { type FileLink, readCssLinks, readHtmlLinks } from "./read-links.ts";

/** A link of a page's file that leads to no file of the page. */
type LostLink = { from: string; link: string };

/** The links of a folder that will not work below the page's address. */
export type LostLinks = {
  /** Links that begin with `/`, or leave the folder with `..`, and are therefore links to the service's own root. */
  outside: LostLink[];
  /** Whether the folder has a file for one of the links in `outside`: it was built for another address. */
  isOtherBase: boolean;
  /** Links to files that the folder does not have. */
  missing: LostLink[];
};

/** Only the beginning of a long file is read, and only so many bytes of all files. */
const FILE_BYTES_MAX = 1_048_576;
const BYTES_MAX = 8 * FILE_BYTES_MAX;

/**
 * Compares the links in the HTML and CSS of a folder with its files. Addresses that scripts make up are not found. Links
 * to other sites are not followed.
 */
export async function findLostLinks(
  { files, contents }: Pick<FolderContent, "files" | "contents">,
  slug: string,
): Promise<LostLinks> {
  const manifest = new Map(files.map((file) => [file.path, file]));
  const root = new URL(`${PAGES_FOLDER}${isSlug(slug) ? slug : "page"}/`, "http://page.invalid");
  const found: LostLinks = { outside: [], isOtherBase: false, missing: [] };
  let room = BYTES_MAX;
  for (const file of files) {
    // A file of 1 MiB takes about 80 ms.
    await yieldToOthers();
    const links = room > 0 ? readLinks(file, contents) : [];
    room -= Math.min(file.sizeBytes, FILE_BYTES_MAX);
    for (const { link, base } of links) {
      const url = resolve(link, base, new URL(file.path.split("/").map(encodeURIComponent).join("/"), root));
      if (url?.host !== root.host) continue;
      if (!url.pathname.startsWith(root.pathname)) {
        found.outside.push({ from: file.path, link });
        found.isOtherBase ||= url.pathname !== "/" && hasFile(manifest, url.pathname.slice(1));
      } else if (!hasFile(manifest, url.pathname.slice(root.pathname.length)))
        found.missing.push({ from: file.path, link });
    }
  }
  return found;
}

function readLinks({ path, hash, mediaType }: PageFile, contents: FolderContent["contents"]): FileLink[] {
  const isCss = mediaType.startsWith("text/css");
  if (!isCss && !mediaType.startsWith("text/html")) return [];
  const text = new TextDecoder().decode(contents.get(hash)?.subarray(0, FILE_BYTES_MAX));
  // The page that is shown for addresses without a file has no address of its own, so its links are not compared.
  if (path === "404.html") return [];
  return isCss ? readCssLinks(text) : readHtmlLinks(text);
}

function resolve(link: string, base: string | undefined, fileUrl: URL): URL | undefined {
  const around = base === undefined ? fileUrl : (URL.parse(base, fileUrl) ?? fileUrl);
  const url = URL.parse(link, around);
  return url?.protocol === "http:" ? url : undefined;
}

function hasFile(manifest: ReadonlyMap<string, PageFile>, path: string): boolean {
  try {
    return findFile(manifest, decodeURIComponent(path)) !== undefined;
  } catch {
    return false;
  }
}
