const charactersMax = 64;
const plainName = /^[A-Za-z0-9_-]+$/;
/** Names with a meaning in JavaScript objects: strict JSON parsers refuse them. */
const touchyNames = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Chooses unique names in characters that every provider accepts. Plain names stay; the others become similar plain
 * names.
 */
export function chooseNames(names: readonly string[]): string[] {
  const isPlain = (name: string) =>
    name.length <= charactersMax && plainName.test(name) && !touchyNames.has(name);
  const taken = new Set<string>();
  const chosen = names.map((name) => {
    if (!isPlain(name) || taken.has(name)) return undefined;
    taken.add(name);
    return name;
  });
  const counts = new Map<string, number>();
  return names.map((name, index) => chosen[index] ?? makeName(name, taken, counts));
}

/** Chooses a plain name that is not taken, and adds it to `taken`. */
export function makeName(wanted: string, taken: Set<string>, counts: Map<string, number>): string {
  const plain = wanted
    .slice(0, 200)
    .replaceAll(/[^A-Za-z0-9_-]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .slice(0, charactersMax - 8);
  const stem = plain === "" || touchyNames.has(plain) ? "property" : plain;
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
