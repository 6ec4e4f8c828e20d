/** Matches escapes and strings, in which characters have no syntactic meaning. */
const HIDDEN = /\\[^\n]|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;

/**
 * Replaces escapes, strings, and brackets with their contents, with placeholders of the same length. Undefined if the
 * text contains a comment, if a string or an escape is incomplete, or if the brackets do not match.
 */
function blank(text: string): string | undefined {
  const bare = text.replace(HIDDEN, (hidden) => "_".repeat(hidden.length));
  if (/["'\\]|\/\*/.test(bare)) return undefined;
  const open: string[] = [];
  let result = "";
  for (const character of bare) {
    const closing = { "(": ")", "[": "]", "{": "}" }[character];
    if (closing !== undefined) open.push(closing);
    result += open.length > 0 ? "_".repeat(character.length) : character;
    if (")]}".includes(character) && open.pop() !== character) return undefined;
  }
  return open.length === 0 ? result : undefined;
}

/** Writes style properties as the text of a style attribute. Undefined if a value is not a single CSS value. */
export function writeDeclarations(style: Record<string, string>): string | undefined {
  const entries = Object.entries(style);
  const isWritable = entries.every(([, value]) => {
    const bare = blank(value)?.replace(/\s*!\s*important\s*$/i, "");
    return bare !== undefined && bare.trim() !== "" && !/[;!]/.test(bare);
  });
  return isWritable ? entries.map(([name, value]) => `${name}: ${value.trim()}`).join("; ") : undefined;
}

/** Reads the declarations of a style attribute. Undefined if there are none, or if they cannot be parsed. */
export function readDeclarations(text: string): Record<string, string> | undefined {
  const bare = blank(text);
  if (bare === undefined) return undefined;
  const entries: [string, string][] = [];
  let start = 0;
  for (const part of bare.split(";")) {
    const declaration = text.slice(start, start + part.length);
    start += part.length + 1;
    if (declaration.trim() === "") continue;
    const colon = declaration.indexOf(":");
    if (colon === -1) return undefined;
    const name = declaration.slice(0, colon).trim();
    if (!/^-?-?[A-Za-z][\w-]*$/.test(name)) return undefined;
    entries.push([name.startsWith("--") ? name : name.toLowerCase(), declaration.slice(colon + 1).trim()]);
  }
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
