/** The media type of a Content-Type header, in lower case and without parameters. */
export const readMediaType = (contentType: string | null): string =>
  contentType?.split(";")[0]?.trim().toLowerCase() || "application/octet-stream";

/** Number of bytes at the start of a page that are searched for its encoding declaration, as in browsers. */
const SNIFFED_BYTES = 1_024;

/**
 * Decodes a body as text; returns undefined if it is not text. The encoding comes from a byte order mark, the header or
 * the page's `meta` element, in this order; the default is UTF-8.
 */
export function decodeBody(body: Uint8Array, contentType: string | null): string | undefined {
  const declared = /charset\s*=\s*["']?([\w.:-]+)/i;
  const start = Buffer.from(body.subarray(0, SNIFFED_BYTES)).toString("latin1");
  const isMarked16 = start.startsWith("\xff\xfe") || start.startsWith("\xfe\xff");
  if (!isMarked16 && start.includes("\0")) return undefined;
  const byMark = start.startsWith("\xff\xfe")
    ? "utf-16le"
    : start.startsWith("\xfe\xff")
      ? "utf-16be"
      : undefined;
  const fromHeader = contentType?.match(declared)?.[1];
  const fromPage = start.match(/<meta[^>]{0,200}/i)?.[0].match(declared)?.[1];
  const label = start.startsWith("\xef\xbb\xbf") ? "utf-8" : (byMark ?? fromHeader ?? fromPage ?? "utf-8");
  // With `stream`, the decoder leaves out an incomplete character at the end, because the body may have been cut there.
  return createDecoder(label).decode(body, { stream: true });
}

function createDecoder(label: string): TextDecoder {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}
