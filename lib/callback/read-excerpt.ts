/** How many characters of a receiver's answer are kept. */
const CHARACTERS_MAX = 500;
/** Controls but for line breaks and tabs, invisible marks (some turn text around), and what stands for broken bytes. */
const UNPRINTABLE = /[^\P{C}\n\t]|\ufffd/gu;

/**
 * The beginning of a receiver's answer as text that people may be shown and a database takes; null where there is none.
 * Whatever it is said to be, it is read as UTF-8 and never as markup.
 */
export function readExcerpt(body: Uint8Array): string | null {
  // No character takes more than four bytes; what is cut in two at the end goes with the broken ones.
  const text = new TextDecoder().decode(body.subarray(0, CHARACTERS_MAX * 4)).replace(UNPRINTABLE, "");
  const excerpt = [...text].slice(0, CHARACTERS_MAX).join("").trim();
  return excerpt === "" ? null : excerpt;
}
