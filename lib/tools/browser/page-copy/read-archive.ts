/**
 * One file of an archived page. `url` is empty if the file has no address. `names` are the `cid:` addresses with which
 * other files refer to it.
 */
export type ArchivedFile = { url: string; names: string[]; mediaType: string; body: Buffer };

/** The files of a page: its document first, then the documents of its frames, its style sheets and its pictures. */
export type PageArchive = ArchivedFile[];

/** Maximum number of files that are read. Further files are left out. */
const FILES_MAX = 2_000;

/**
 * Reads an MHTML archive that Chromium wrote. Leaves out files that cannot be read.
 * Source: RFC 2557, and RFC 2045 for the encodings.
 */
export function readArchive(mhtml: string): PageArchive {
  const [, boundary] = /\bboundary="([^"\r\n]+)"/.exec(mhtml) ?? [];
  if (boundary === undefined) return [];
  // The first part is the head of the archive. The last one follows the closing boundary and is empty.
  const parts = mhtml.split(`\r\n--${boundary}`, FILES_MAX + 1).slice(1);
  return parts.flatMap((part) => readFile(part) ?? []);
}

function readFile(part: string): ArchivedFile | undefined {
  const headEnd = part.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  const headers = new Map(
    part
      .slice(0, headEnd)
      // A long header continues in the next line, after white space.
      .replace(/\r\n[ \t]+/g, "")
      .split("\r\n")
      .map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
      }),
  );
  const mediaType = headers.get("content-type");
  if (mediaType === undefined) return undefined;
  const id = headers.get("content-id")?.replace(/^<(.*)>$/, "cid:$1");
  const location = headers.get("content-location") ?? "";
  const isName = location.startsWith("cid:");
  return {
    url: isName ? "" : location,
    names: [...(id === undefined ? [] : [id]), ...(isName ? [location] : [])],
    mediaType,
    body: decode(part.slice(headEnd + 4), headers.get("content-transfer-encoding")),
  };
}

function decode(text: string, encoding: string | undefined): Buffer {
  if (encoding === "base64") return Buffer.from(text, "base64");
  if (encoding !== "quoted-printable") return Buffer.from(text, "latin1");
  const bytes = text
    .replace(/=\r\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1");
}
