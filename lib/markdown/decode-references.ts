import { decodeNamedCharacterReference } from "decode-named-character-reference";

const CODE_POINT_MAX = 0x10ffff;

/** Replaces the character references of HTML (`&amp;`, `&#x2014;`) in a text of Markdown by their characters. */
export const decodeReferences = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z][a-z\d]{1,31}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return decodeNamedCharacterReference(name) || whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    const isCharacter = code > 0 && code <= CODE_POINT_MAX && !(code >= 0xd800 && code <= 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : "\u{fffd}";
  });
