import { Tokenizer, TokenizerMode } from "parse5";

/** Where the tag belongs in a document, and the policies of the `meta` elements before it. */
type TagPosition = { offset: number; policies: string[] };

/** A document with the tag, and the policies of the `meta` elements before the tag; or why it cannot have the tag. */
type TaggedDocument = { body: Buffer; policies: string[] } | { reason: string };

/** How far the start of a document is read, in bytes. */
const START_BYTES_MAX = 65_536;
/** Browsers look for a `<meta charset>` in so many bytes. Source: HTML Standard, "prescan a byte stream". */
const CHARSET_BYTES = 1_024;
/** Elements at the start of a head that stay before the tag. The encoding and the policy of a page are among them. */
const LEADING = new Set(["html", "head", "meta", "base", "title"]);
const WIDE = /charset\s*=\s*["']?\s*(utf-?16|utf-?32|ucs-2|iso-10646)/i;

/**
 * Puts a script tag into the head of an HTML document, after the elements `meta`, `base` and `title` with which the head
 * begins. All other bytes stay as they are, and the tree of nodes gets only the script element.
 *
 * @param contentType the value of the document's Content-Type header
 */
export function insertTag(document: Buffer, contentType: string, tag: string): TaggedDocument {
  const hasWideMark = [0xfeff, 0xfffe].includes(document.length < 2 ? 0 : document.readUInt16BE(0));
  if (hasWideMark || WIDE.test(contentType)) return { reason: "its characters have two bytes" };
  // Each byte becomes one character, so that offsets are the same. The bytes of tags are those of ASCII in all other
  // encodings.
  const start = document.subarray(0, START_BYTES_MAX).toString("latin1");
  const hasMark = start.startsWith("\u00ef\u00bb\u00bf");
  const place = findTagPosition(start, hasMark ? 3 : 0, document.length <= START_BYTES_MAX);
  if (!place) return { reason: "its head was not found within 64 KiB" };
  const { offset, policies } = place;
  const isDeclared = hasMark || /charset\s*=/i.test(contentType);
  const declaration = isDeclared ? -1 : start.slice(0, CHARSET_BYTES).search(/<meta[^>]*charset\s*=/i);
  if (declaration >= offset && declaration + tag.length + 100 > CHARSET_BYTES)
    return { reason: "its encoding is declared so late that the tag would hide it" };
  return {
    body: Buffer.concat([document.subarray(0, offset), Buffer.from(tag), document.subarray(offset)]),
    policies,
  };
}

/** Finds the first token that does not belong to the leading elements. White space before it stays before the tag. */
function findTagPosition(html: string, from: number, isWhole: boolean): TagPosition | undefined {
  let offset: number | undefined;
  let isTitle = false;
  const policies: string[] = [];
  const stop = (token: { location: { startOffset: number } | null }) => {
    if (!isTitle) offset ??= from + (token.location?.startOffset ?? 0);
  };
  const ignore = () => {};
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: true },
    {
      onStartTag(token) {
        const { tagName, attrs } = token;
        if (offset !== undefined) return;
        if (!LEADING.has(tagName)) return stop(token);
        tokenizer.lastStartTagName = tagName;
        if (tagName === "title") {
          isTitle = true;
          tokenizer.state = TokenizerMode.RCDATA;
        }
        const read = (wanted: string) => attrs.find(({ name }) => name === wanted)?.value ?? "";
        if (tagName === "meta" && read("http-equiv").toLowerCase() === "content-security-policy")
          policies.push(read("content"));
      },
      onEndTag(token) {
        if (isTitle && token.tagName === "title") isTitle = false;
        else stop(token);
      },
      onCharacter: stop,
      onNullCharacter: stop,
      onWhitespaceCharacter: ignore,
      onComment: ignore,
      onDoctype: ignore,
      onEof: (token) => {
        if (isWhole) stop(token);
      },
    },
  );
  tokenizer.write(html.slice(from), true);
  return offset === undefined ? undefined : { offset, policies };
}
