import { shorten } from "#lib/text/shorten.ts";

const NAME_CHARS_MAX = 120;

/**
 * Names the element of a selector of Playwright, as a person would: by its accessible name, its label or its text.
 * Falls back to the selector itself. Null if the selector says nothing.
 *
 * @param describeRef returns how a snapshot describes the element of a ref, such as `button "Save"`.
 */
export function nameTarget(
  selector: string,
  describeRef: (ref: string) => string | undefined,
): string | null {
  const parts = selector.split(" >> ").filter((part) => !/^(nth=|visible=|internal:(and|or|has))/.test(part));
  for (const part of parts.toReversed()) {
    const name = namePart(part, describeRef);
    if (name !== undefined && name.trim() !== "") return shorten(name.trim(), NAME_CHARS_MAX);
  }
  return null;
}

function namePart(part: string, describeRef: (ref: string) => string | undefined): string | undefined {
  const ref = /^ref=(\w+)$/.exec(part)?.[1];
  if (ref !== undefined) return nameDescribed(describeRef(ref));
  const role = /^internal:role=([\w-]+)/.exec(part)?.[1];
  if (role !== undefined) return readQuoted(/\[name=("(?:[^"\\]|\\.)*")/.exec(part)?.[1]) ?? role;
  if (part.startsWith("internal:")) return readQuoted(/("(?:[^"\\]|\\.)*")/.exec(part)?.[1]);
  const text = /^text=(?:"(.*)"|(.*))$/.exec(part);
  if (text) return text[1] ?? text[2];
  return part.replace(/^css=/, "");
}

/** Reads the name in a snapshot's description of an element. Without a name, returns its role. */
const nameDescribed = (described: string | undefined): string | undefined =>
  readQuoted(/("(?:[^"\\]|\\.)*")$/.exec(described ?? "")?.[1]) ?? described;

function readQuoted(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return String(JSON.parse(text));
  } catch {
    return text.slice(1, -1);
  }
}
