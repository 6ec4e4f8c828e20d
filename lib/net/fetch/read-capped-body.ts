import { Buffer } from "node:buffer";
import type { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/**
 * An encoded body may exceed `maxBytes` by this many bytes, because encoding makes incompressible data slightly larger.
 */
const ENCODING_OVERHEAD_BYTES = 65_536;

/** The `Accept-Encoding` value with the content encodings that `readCappedBody` can decode. */
export const ACCEPTED_ENCODINGS = "gzip, deflate, br, zstd";

/** A body of at most `maxBytes`. `truncated`: the original body is longer. `decoded`: the body was decompressed. */
type CappedBody = { bytes: Uint8Array; truncated: boolean; decoded: boolean };

/**
 * Reads a response body up to `maxBytes`, counted after decompression. The rest is left unread, so that a compression
 * bomb cannot fill the memory. A body with an unknown encoding or several encodings is returned undecoded. Rejects with
 * the error of the stream or the decoder.
 */
export async function readCappedBody(
  body: Readable,
  contentEncoding: string | undefined,
  maxBytes: number,
): Promise<CappedBody> {
  const decoder = decoders[contentEncoding?.trim().toLowerCase() ?? ""]?.();
  if (decoder === undefined) return { ...(await collect(body, maxBytes)), decoded: false };
  let isOverEncodedCap = false;
  async function* encoded(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      isOverEncodedCap = bytes > maxBytes + ENCODING_OVERHEAD_BYTES;
      if (isOverEncodedCap) return;
      yield chunk;
    }
  }
  // The callback ignores errors: `pipeline` also destroys the decoder with the error, and `collect` then rejects with
  // this error.
  pipeline(encoded, decoder, () => {});
  try {
    const read = await collect(decoder, maxBytes);
    return { bytes: read.bytes, truncated: read.truncated || isOverEncodedCap, decoded: true };
  } catch (error) {
    if (isOverEncodedCap) return { bytes: new Uint8Array(), truncated: true, decoded: true };
    throw error;
  } finally {
    body.on("error", () => {}).destroy();
  }
}

async function collect(
  stream: Readable,
  maxBytes: number,
): Promise<{ bytes: Uint8Array; truncated: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early destroys the stream. This also ends the connection or the decompression.
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    length += chunk.byteLength;
    if (length > maxBytes) break;
  }
  const bytes = Buffer.concat(chunks, length);
  return { bytes: length > maxBytes ? bytes.subarray(0, maxBytes) : bytes, truncated: length > maxBytes };
}
