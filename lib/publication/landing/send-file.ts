import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { PageAnswer } from "./page-answer.ts";

/** The headers of a request on which the response depends. */
export type SendRequest = {
  ifNoneMatch?: string | undefined;
  acceptEncoding?: string | undefined;
  range?: string | undefined;
  ifRange?: string | undefined;
};

/** A file in memory. `gzip` is its compressed content; undefined if the file is always sent uncompressed. */
export type Packed = {
  etag: string;
  plain: Uint8Array<ArrayBuffer>;
  gzip: Uint8Array<ArrayBuffer> | undefined;
};

const compress = promisify(gzip);
/** Smaller files are not compressed, because the additional headers would cost more than compression saves. */
const COMPRESS_BYTES_MIN = 512;
const ETAG_CHARACTERS = 32;

export async function pack(content: Uint8Array, hash: string, isCompressed: boolean): Promise<Packed> {
  const plain = new Uint8Array(content);
  const packed =
    isCompressed && plain.byteLength >= COMPRESS_BYTES_MIN
      ? new Uint8Array(await compress(plain))
      : undefined;
  const isSmaller = packed !== undefined && packed.byteLength < plain.byteLength;
  return { etag: hash.slice(0, ETAG_CHARACTERS), plain, gzip: isSmaller ? packed : undefined };
}

const ACCEPTS_GZIP = /(^|,)\s*gzip\s*(;(?!\s*q=0(\.0*)?\s*(,|$))|,|$)/i;

/**
 * Builds the response for a file: the whole file, the requested range of the file, a 304 if the client has cached the
 * file, or a 416 if the range is beyond the end of the file.
 */
export function sendFile(
  file: Packed,
  request: SendRequest,
  common: Readonly<Record<string, string>>,
): PageAnswer {
  const { ifNoneMatch, acceptEncoding, ifRange } = request;
  const plainTag = `"${file.etag}"`;
  const range = ifRange === undefined || ifRange === plainTag ? request.range : undefined;
  const part = range === undefined ? undefined : readRange(range, file.plain.byteLength);
  const packed = part === undefined && ACCEPTS_GZIP.test(acceptEncoding ?? "") ? file.gzip : undefined;
  const etag = packed ? `"${file.etag}-gzip"` : plainTag;
  const headers = {
    ...common,
    ETag: etag,
    "Accept-Ranges": "bytes",
    ...(file.gzip && { Vary: "Accept-Encoding" }),
  };
  const cachedTags = (ifNoneMatch ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (cachedTags.includes(etag) || cachedTags.includes("*")) return { status: 304, headers };
  if (part === "outside") {
    const contentRange = `bytes */${file.plain.byteLength}`;
    return { status: 416, headers: { ...headers, "Content-Range": contentRange } };
  }
  if (part) {
    const contentRange = `bytes ${part.from}-${part.to}/${file.plain.byteLength}`;
    const body = file.plain.subarray(part.from, part.to + 1);
    return { status: 206, headers: { ...headers, "Content-Range": contentRange }, body };
  }
  const encoding = packed ? { "Content-Encoding": "gzip" } : {};
  return { status: 200, headers: { ...headers, ...encoding }, body: packed ?? file.plain };
}

/**
 * Reads a `Range` header with a single range. Returns `outside` if the range is beyond the end of the file. Returns
 * undefined for any other header; the whole file is then sent.
 */
function readRange(range: string, size: number): { from: number; to: number } | "outside" | undefined {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range) ?? [];
  if (first === "" && last === "") return undefined;
  if (first !== "" && last !== "" && Number(first) > Number(last)) return undefined;
  const from = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  return from > to ? "outside" : { from, to };
}
