import { isUtf8 } from "node:buffer";
import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";

/**
 * What `readFileName` writes as `\xHH`: control characters, bytes that are not UTF-8, and a backslash that would
 * otherwise look like the beginning of such an escape. NUL, `/` and `.` are not among them, so no escape can change
 * which folder a path leads to.
 */
const ESCAPE = String.raw`\\x(0[1-9a-f]|1[0-9a-f]|5c|7f|[89a-f][0-9a-f])`;
const ESCAPES = new RegExp(ESCAPE, "g");
/** One character of UTF-8 (group 1), or one byte to escape. Matches text whose characters are bytes. */
const CHARACTER = new RegExp(
  String.raw`((?!${ESCAPE})[\x20-\x7e]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|\xed[\x80-\x9f][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})|[^]`,
  "g",
);

/**
 * Converts the bytes of a file name to text. Control characters and bytes that are not UTF-8 become `\xHH`, as in
 * Bash's `$'…'`. `fileNameBytes` converts the text back to the same bytes.
 */
export function readFileName(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (isUtf8(bytes) && !/[\p{Cc}\\]/u.test(text)) return text;
  const escaped = bytes
    .toString("latin1")
    .replace(
      CHARACTER,
      (byte, character) => character ?? `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`,
    );
  return Buffer.from(escaped, "latin1").toString("utf8");
}

/** Converts a text of `readFileName` to the bytes of the file name. */
export const fileNameBytes = (name: string): Buffer =>
  name.includes("\\x")
    ? Buffer.from(
        Buffer.from(name)
          .toString("latin1")
          .replace(ESCAPES, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16))),
        "latin1",
      )
    : Buffer.from(name);

/** Joins a folder's path and names in it, as bytes. */
export const joinBytes = (folder: string | Buffer, ...names: Buffer[]): Buffer =>
  Buffer.concat([Buffer.from(folder), ...names.flatMap((name) => [Buffer.from("/"), name])]);

/** Lists the entries of a folder one after the other, with their names as bytes. */
export async function* listFolder(folder: string | Buffer): AsyncGenerator<Dirent<Buffer>> {
  // Node supports this encoding, but its types do not.
  const encoding = "buffer" as BufferEncoding;
  for await (const entry of await opendir(folder, { encoding, bufferSize: 1_024 }))
    yield entry as Dirent<string | Buffer> as Dirent<Buffer>;
}
