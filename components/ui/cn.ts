import { type ClassValue, clsx } from "clsx";

/**
 * Joins class names. If two Tailwind classes set the same, the later one wins. Knows the classes that the pages use; a
 * test compares it with `tailwind-merge`, which is several times as large. Source: decision 116.
 */
export function cn(...classes: ClassValue[]): string {
  const joined = clsx(classes);
  const known = merged.get(joined);
  if (known !== undefined) return known;
  if (merged.size >= CACHED_MAX) merged.clear();
  const result = merge(joined.split(/\s+/));
  merged.set(joined, result);
  return result;
}

const merged = new Map<string, string>();
const CACHED_MAX = 1_000;

/**
 * What a class sets, by the first pattern that fits the class without its variants. A class is dropped if a later class
 * with the same variants sets at least the same.
 */
const SETS: readonly (readonly [RegExp, string])[] = [
  [/^line-clamp-/, "line-clamp display overflow-x overflow-y"],
  [/^(block|inline|inline-block|flex|inline-flex|grid|inline-grid|table|contents|hidden)$/, "display"],
  [/^(static|relative|absolute|fixed|sticky)$/, "position"],
  [/^(visible|invisible)$/, "visibility"],
  [/^(underline|line-through|no-underline)$/, "text-decoration"],
  [/^size-/, "w h"],
  [/^(max-w|max-h|min-w|min-h|w|h)-/, "$1"],
  [/^(p|m|scroll-m|scroll-p)-/, "$1t $1r $1b $1l"],
  [/^(p|m|scroll-m|scroll-p)x-/, "$1l $1r"],
  [/^(p|m|scroll-m|scroll-p)y-/, "$1t $1b"],
  [/^(p|m|scroll-m|scroll-p)([trbl])-/, "$1$2"],
  [/^inset-x-/, "left right"],
  [/^inset-y-/, "top bottom"],
  [/^inset-/, "top right bottom left"],
  [/^(top|right|bottom|left|z|opacity|basis|order|delay|duration|ease|cursor|touch|caret|accent)-/, "$1"],
  [/^gap-([xy])-/, "gap-$1"],
  [/^gap-/, "gap-x gap-y"],
  [/^flex-(col|row)/, "flex-direction"],
  [/^flex-(wrap|nowrap)/, "flex-wrap"],
  [/^flex-/, "flex basis grow shrink"],
  [/^(grow|shrink)(-|$)/, "$1"],
  [/^justify-(self|items)-/, "justify-$1"],
  [
    /^(items|justify|self|grid-cols|grid-rows|whitespace|columns|aspect|select|resize|appearance|fill)-/,
    "$1",
  ],
  [/^(col|row)-(start|span)-/, "$1-$2"],
  [/^overflow-([xy])-/, "overflow-$1"],
  [/^overflow-/, "overflow-x overflow-y"],
  [/^rounded-b(-|$)/, "rounded-br rounded-bl"],
  [/^rounded-t(-|$)/, "rounded-tl rounded-tr"],
  [/^rounded(-|$)/, "rounded-tl rounded-tr rounded-br rounded-bl"],
  [/^border(-\d+)?$/, "border-t border-r border-b border-l"],
  [/^border-([trbl])(-\d+)?$/, "border-$1"],
  [/^border-(solid|dashed|dotted)$/, "border-style"],
  [/^border-(collapse|separate)$/, "border-collapse"],
  [/^border-/, "border-color"],
  [/^bg-linear-/, "bg-image"],
  [/^bg-/, "bg-color"],
  [/^text-(2xs|xs|sm|base|lg|xl)$/, "font-size leading"],
  [/^text-(left|center|right)$/, "text-align"],
  [/^text-(balance|wrap|nowrap)$/, "text-wrap"],
  [/^text-/, "text-color"],
  [/^leading-/, "leading"],
  [/^font-(sans|mono)$/, "font-family"],
  [/^font-/, "font-weight"],
  [/^(list)-/, "$1"],
  [/^break-(words|all|normal)$/, "break"],
  [/^object-(contain|cover)$/, "object-fit"],
  [/^outline-offset-/, "outline-offset"],
  [/^outline-\d+$|^outline$/, "outline-width"],
  [/^ring-\d+$/, "ring-width"],
  [/^ring-offset-\d+$/, "ring-offset-width"],
  [/^ring-offset-/, "ring-offset-color"],
  [/^ring-/, "ring-color"],
  [/^shadow-\(/, "shadow-color"],
  [/^shadow(-|$)/, "shadow"],
  [/^(pointer-events|transition|rotate|decoration)-/, "$1"],
  [/^translate-([xy])-/, "translate-$1"],
  [/^translate-/, "translate-x translate-y"],
  [/^align-/, "vertical-align"],
  [/^\[([a-z-]+):/, "[$1"],
];

/** Returns what a class sets, each with the variants of the class. A class that is not known sets only itself. */
function readSets(name: string): string[] {
  const isImportant = name.endsWith("!");
  const at = findUtility(name);
  const variants = `${name.slice(0, at)}${isImportant ? "!" : ""}`;
  const utility = name.slice(at, isImportant ? -1 : undefined).replace(/^-/, "");
  for (const [pattern, sets] of SETS) {
    const found = pattern.exec(utility);
    if (found)
      return sets.split(" ").map((set) => variants + set.replace(/\$(\d)/g, (_, n) => found[n] ?? ""));
  }
  return [name];
}

/** Returns where the utility of a class begins: after its variants, such as `max-lg:`. A colon in brackets is none. */
function findUtility(name: string): number {
  let depth = 0;
  let end = 0;
  for (let at = 0; at < name.length; at++) {
    const character = name.charAt(at);
    if (character === "[" || character === "(") depth++;
    else if (character === "]" || character === ")") depth--;
    else if (character === ":" && depth === 0) end = at + 1;
  }
  return end;
}

function merge(names: string[]): string {
  const set = new Set<string>();
  const kept: string[] = [];
  for (const name of names.toReversed()) {
    const sets = readSets(name);
    if (sets.every((each) => set.has(each))) continue;
    for (const each of sets) set.add(each);
    kept.push(name);
  }
  return kept.toReversed().join(" ");
}
