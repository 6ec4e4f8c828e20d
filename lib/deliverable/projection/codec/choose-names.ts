const charactersMax = 64;
const plainName = /^[A-Za-z0-9_-]+$/;
/** Names that JavaScript objects have a meaning for: careful JSON readers refuse them. */
const touchyNames = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Names in the letters that every provider takes, each once: those that are plain stay, in whatever order they come,
 * and the others become similar ones.
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

/** A plain name that is not taken yet, and is from now on. */
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
