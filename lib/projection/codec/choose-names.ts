const CHARACTERS_MAX = 64;
const PLAIN_NAME = /^[A-Za-z0-9_-]+$/;
/** Names that have a meaning in JavaScript objects and that strict JSON parsers therefore refuse. */
const TOUCHY_NAMES = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Chooses unique names with characters that every provider accepts (plain names). A plain name is kept at its first
 * occurrence. Repeated names and all other names are replaced by similar plain names.
 */
export function chooseNames(names: readonly string[]): string[] {
  const isPlain = (name: string) =>
    name.length <= CHARACTERS_MAX && PLAIN_NAME.test(name) && !TOUCHY_NAMES.has(name);
  const taken = new Set<string>();
  const chosen = names.map((name) => {
    if (!isPlain(name) || taken.has(name)) return undefined;
    taken.add(name);
    return name;
  });
  const counts = new Map<string, number>();
  return names.map((name, index) => chosen[index] ?? makeName(name, taken, counts));
}

/** Chooses a plain name similar to `wanted` that is not in `taken`, and adds it to `taken`. */
export function makeName(wanted: string, taken: Set<string>, counts: Map<string, number>): string {
  const plain = wanted
    .slice(0, 200)
    .replaceAll(/[^A-Za-z0-9_-]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .slice(0, CHARACTERS_MAX - 8);
  const stem = plain === "" || TOUCHY_NAMES.has(plain) ? "property" : plain;
  let number = counts.get(stem) ?? 1;
  let name = number === 1 ? stem : `${stem}_${number}`;
  while (taken.has(name)) {
    number += 1;
    name = `${stem}_${number}`;
  }
  counts.set(stem, number);
  taken.add(name);
  return name;
}
