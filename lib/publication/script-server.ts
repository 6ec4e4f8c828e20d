import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { LRUCache } from "lru-cache";
import type { Database } from "#db/client.ts";
import { findNewestFor, findServed, readScript, type ServedRelease } from "./publication-store.ts";
import { DEMO_SCRIPT, readScriptName } from "./script-address.ts";

/**
 * The response to a request for a script. If the script cannot be served, the response has an error sentence instead of
 * a body.
 */
type ScriptAnswer = { headers: Record<string, string> } & (
  | { status: 200; body: Uint8Array<ArrayBuffer> }
  | { status: 304 }
  | { status: 404 | 410; error: string }
);

/** The headers of a request on which the response depends. */
type ScriptRequest = { ifNoneMatch: string | null; acceptEncoding: string | null };

/** Serves published scripts to any number of visitors. Source: `wire.md`, Publications. */
export type ScriptServer = {
  /**
   * @param file file name below `/v/`
   * @throws Error if the needed data is not in memory and the database cannot be read.
   */
  answer: (file: string, request: ScriptRequest) => Promise<ScriptAnswer>;
  /** Evicts the cached state of a publication. Call it after this process has changed the publication. */
  forget: (publicationId: string) => void;
};

/**
 * How long the state of a publication is cached, in milliseconds. If another process changes the publication, this
 * process may serve the old state for this time.
 */
const STATE_MS = 1_000;
const STATES_MAX = 10_000;
const SCRIPT_BYTES_MAX = 64 * 1024 * 1024;

const HEADERS = {
  "Content-Type": "text/javascript; charset=utf-8",
  "X-Content-Type-Options": "nosniff",
  "Access-Control-Allow-Origin": "*",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Timing-Allow-Origin": "*",
  Vary: "Accept-Encoding",
};
const CACHE_CURRENT = "public, max-age=60";
/** The script of a release never changes, but browsers must notice within minutes that the release was unpublished. */
const CACHE_PINNED = "public, max-age=300";

/** The script that an unpublished publication serves. Pages that load it continue to work without errors. */
const EMPTY = "/* This variant is not published. */\n";

type Packed = { etag: string; plain: Uint8Array<ArrayBuffer>; gzip: Uint8Array<ArrayBuffer> };
type State = { served: ServedRelease | undefined };
type ScriptKey = { publicationId: string; release: number };

const compress = promisify(gzip);

async function pack(script: string): Promise<Packed> {
  const plain = new TextEncoder().encode(script);
  const etag = createHash("sha256").update(plain).digest("base64url").slice(0, 27);
  return { etag, plain, gzip: new Uint8Array(await compress(plain, { level: 9 })) };
}

/** The state of the demo shop's script while no variant is published for the demo shop. */
const NOTHING: ServedRelease = { publicationId: "", isPublished: false, release: null, integrity: null };

/**
 * @see ScriptServer
 * @param demoUrls URLs of the demo shop. A publication is for the demo shop if it has a page below one of them.
 */
export function createScriptServer(db: Database, demoUrls: string[]): ScriptServer {
  const states = new LRUCache<string, State>({
    max: STATES_MAX,
    ttl: STATE_MS,
    // While the database cannot be read, scripts in memory are still served.
    allowStaleOnFetchRejection: true,
    // If `forget` is called while a state is being read, the waiting request still gets the result.
    ignoreFetchAbort: true,
    fetchMethod: (file) => readState(file),
  });
  const scripts = new LRUCache<string, Packed, ScriptKey>({
    maxSize: SCRIPT_BYTES_MAX,
    sizeCalculation: ({ plain, gzip: packed }) => plain.byteLength + packed.byteLength,
    async fetchMethod(_integrity, _stale, { context: { publicationId, release } }) {
      const script = await readScript(db, publicationId, release);
      return script === undefined ? undefined : pack(script);
    },
  });
  const empty = pack(EMPTY);

  async function readState(file: string): Promise<State> {
    if (file !== DEMO_SCRIPT) {
      const name = readScriptName(file);
      return { served: name && (await findServed(db, name.publicationId, name.release)) };
    }
    const publicationId = await findNewestFor(db, demoUrls);
    return { served: publicationId === undefined ? NOTHING : await findServed(db, publicationId, undefined) };
  }

  return {
    async answer(file, request) {
      const name = readScriptName(file);
      if (!name && file !== DEMO_SCRIPT) return refuse(404, "there is no such script");
      // `fetch` returns undefined if the database cannot be read and no earlier state is cached. The second read then
      // throws the error.
      const { served } = (await states.fetch(file)) ?? (await readState(file));
      if (!served) return refuse(404, "there is no such script");
      const { publicationId, release, integrity } = served;
      const isPinned = name?.release !== undefined;
      if (!served.isPublished || release === null || integrity === null)
        return isPinned
          ? refuse(410, "this release was unpublished")
          : send(await empty, request, CACHE_CURRENT);
      const script = await scripts.fetch(integrity, {
        context: { publicationId, release },
      });
      if (!script) return refuse(404, "there is no such script");
      return send(script, request, isPinned ? CACHE_PINNED : CACHE_CURRENT);
    },
    forget(publicationId) {
      for (const file of states.keys())
        if (file.startsWith(publicationId) || file === DEMO_SCRIPT) states.delete(file);
    },
  };
}

function send(
  script: Packed,
  { ifNoneMatch, acceptEncoding }: ScriptRequest,
  cacheControl: string,
): ScriptAnswer {
  const isZipped = /(^|,)\s*gzip\s*(;(?!\s*q=0(\.0*)?\s*(,|$))|,|$)/i.test(acceptEncoding ?? "");
  const etag = `"${script.etag}${isZipped ? "-gzip" : ""}"`;
  const headers = { ...HEADERS, "Cache-Control": cacheControl, ETag: etag };
  const cachedTags = (ifNoneMatch ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (cachedTags.includes(etag) || cachedTags.includes("*")) return { status: 304, headers };
  const body = isZipped ? script.gzip : script.plain;
  const encoding = isZipped ? { "Content-Encoding": "gzip" } : {};
  return { status: 200, headers: { ...headers, ...encoding }, body };
}

const refuse = (status: 404 | 410, error: string): ScriptAnswer => ({
  status,
  error,
  headers: { "Access-Control-Allow-Origin": "*", "Cache-Control": CACHE_CURRENT },
});
