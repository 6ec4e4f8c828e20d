import { LRUCache } from "lru-cache";
import type { Database } from "#db/client.ts";
import { readBlob } from "./blob-store.ts";
import { isCompressible } from "./media-type.ts";
import { encodePath, PAGES_FOLDER, readPageAddress } from "./page-address.ts";
import {
  MISSING,
  NOT_FOUND_FILE,
  PAGE_HEADERS,
  type PageAnswer,
  REVALIDATE,
  UNPUBLISHED,
  writeNotice,
} from "./page-answer.ts";
import { findServedVersion, listFiles, type PageFile } from "./page-store.ts";
import { type Packed, pack, type SendRequest, sendFile } from "./send-file.ts";

/** The parts of a request on which the response depends. Cookies are never read. */
type PageRequest = SendRequest & {
  /** The raw path, without the query. */
  pathname: string;
  /** The query with its question mark; empty if the URL has no query. */
  search: string;
};

/** Serves landing pages to any number of visitors. Source: `wire.md`, Landing pages. */
export type PageServer = {
  /** @throws Error if the needed data is not in memory and the database cannot be read. */
  answer: (request: PageRequest) => Promise<PageAnswer>;
  /** Evicts the cached version number of a page. Call it after this process has changed the page. */
  forget: (slug: string) => void;
};

/**
 * How long the version number of a page is cached, in milliseconds. If another process changes the page, this process
 * may serve the old version for this time.
 */
const STATE_MS = 1_000;
const STATES_MAX = 10_000;
/** Maximum number of files in all cached manifests together. A manifest lists the files of a version. */
const LISTED_FILES_MAX = 200_000;
const CONTENT_BYTES_MAX = 64 * 1024 * 1024;

type Version = { slug: string; number: number; pageCreatedAt: Date };
type Manifest = ReadonlyMap<string, PageFile>;

/** @see PageServer */
export function createPageServer(db: Database): PageServer {
  const { readVersion, readManifest, readContent, forget } = createCaches(db);

  return {
    forget,
    async answer({ pathname, search, ...request }) {
      const address = readPageAddress(pathname);
      if (!address) return writeNotice(404, MISSING);
      const { slug, path } = address;
      const current = await readVersion(slug);
      if (!current) return writeNotice(404, MISSING);
      if (current.version === null) return writeNotice(410, UNPUBLISHED);
      if (path === undefined) return redirect(`${PAGES_FOLDER}${slug}/${search}`);
      const version = { slug, number: current.version, pageCreatedAt: current.pageCreatedAt };
      const manifest = await readManifest(version);
      const found = path === null ? undefined : findFile(manifest, path);
      if (found === "folder") return redirect(`${PAGES_FOLDER}${slug}/${encodePath(path ?? "")}/${search}`);
      const file = found ?? manifest.get(NOT_FOUND_FILE);
      const content = file && (await readContent(file));
      // The content is missing if the version was removed after its manifest was read.
      if (!file || !content) return writeNotice(404, MISSING);
      const headers = { ...PAGE_HEADERS, "Content-Type": file.mediaType, "Cache-Control": REVALIDATE };
      return found
        ? sendFile(content, request, headers)
        : { ...sendFile(content, { acceptEncoding: request.acceptEncoding }, headers), status: 404 };
    },
  };
}

const redirect = (location: string): PageAnswer => ({
  status: 308,
  headers: { ...PAGE_HEADERS, Location: location, "Cache-Control": REVALIDATE },
});

/**
 * Finds the file for a path inside a page: for a folder, its `index.html`; for a name without an extension, also the
 * file with the extension `.html`. Returns `folder` if the path names a folder with an `index.html` but lacks the
 * trailing slash. Returns undefined if there is no such file.
 */
export function findFile(
  manifest: ReadonlyMap<string, PageFile>,
  path: string,
): PageFile | "folder" | undefined {
  if (path === "" || path.endsWith("/")) return manifest.get(`${path}index.html`);
  const exact = manifest.get(path);
  if (exact) return exact;
  const hasExtension = path.slice(path.lastIndexOf("/") + 1).includes(".");
  const page = hasExtension ? undefined : manifest.get(`${path}.html`);
  return page ?? (manifest.has(`${path}/index.html`) ? "folder" : undefined);
}

/** Caches versions, manifests and contents. Serving a page that is in memory costs at most one query a second. */
function createCaches(db: Database) {
  const states = new LRUCache<string, { served: Awaited<ReturnType<typeof findServedVersion>> }>({
    max: STATES_MAX,
    ttl: STATE_MS,
    // While the database cannot be read, pages in memory are still served.
    allowStaleOnFetchRejection: true,
    // If `forget` is called while a version number is being read, the waiting request still gets the result.
    ignoreFetchAbort: true,
    fetchMethod: async (slug) => ({ served: await findServedVersion(db, slug) }),
  });
  const manifests = new LRUCache<string, Manifest, Version>({
    maxSize: LISTED_FILES_MAX,
    sizeCalculation: ({ size }) => Math.max(1, size),
    fetchMethod: (_key, _stale, { context }) => loadManifest(db, context),
  });
  const contents = new LRUCache<string, Packed, PageFile>({
    maxSize: CONTENT_BYTES_MAX,
    sizeCalculation: ({ plain, gzip }) => Math.max(1, plain.byteLength + (gzip?.byteLength ?? 0)),
    async fetchMethod(_key, _stale, { context: { hash, mediaType } }) {
      const content = await readBlob(db, hash);
      return content && pack(content, hash, isCompressible(mediaType));
    },
  });
  return {
    async readVersion(slug: string) {
      // `fetch` returns undefined if the database cannot be read and no earlier state is cached. The second read then
      // throws the error.
      const state = await states.fetch(slug);
      return state ? state.served : findServedVersion(db, slug);
    },
    async readManifest(version: Version): Promise<Manifest> {
      const key = `${version.slug}@${version.pageCreatedAt.getTime()}@${version.number}`;
      return (await manifests.fetch(key, { context: version })) ?? loadManifest(db, version);
    },
    readContent: (file: PageFile) =>
      contents.fetch(`${file.hash} ${isCompressible(file.mediaType)}`, { context: file }),
    forget: (slug: string): void => void states.delete(slug),
  };
}

const loadManifest = async (db: Database, { slug, number }: Version): Promise<Manifest> =>
  new Map((await listFiles(db, slug, number)).map((file) => [file.path, file]));
