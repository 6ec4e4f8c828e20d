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

/** Encoding makes incompressible data slightly larger. An encoded body may exceed `maxBytes` by this much. */
const ENCODING_OVERHEAD_BYTES = 65_536;

/** The content encodings that `readCappedBody` decodes, as an `Accept-Encoding` value. */
export const ACCEPTED_ENCODINGS = "gzip, deflate, br, zstd";

/** A body of at most `maxBytes`; `truncated` if there was more, `decoded` if it was decompressed. */
type CappedBody = { bytes: Uint8Array; truncated: boolean; decoded: boolean };

/**
 * Reads a response body up to `maxBytes`, counted after decompression, and leaves the rest unread, so that a compression
 * bomb costs no more memory than that. A body with an unknown or chained encoding is returned undecoded.
 * Rejects with the error of the stream or the decoder.
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
  // Errors of the body and of the decoder both surface in `collect`, which reads the decoder.
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
  // Leaving the loop destroys the stream, which closes the connection or the decoder.
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    length += chunk.byteLength;
    if (length > maxBytes) break;
  }
  const bytes = Buffer.concat(chunks, length);
  return { bytes: length > maxBytes ? bytes.subarray(0, maxBytes) : bytes, truncated: length > maxBytes };
}
