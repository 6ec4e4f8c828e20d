import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { twMerge } from "tailwind-merge";
import { cn } from "./cn.ts";

const ROOT = new URL("../../", import.meta.url);

/** Returns every class that `tailwind-merge` knows and that the components use. */
function listClasses(): string[] {
  const words = new Set<string>();
  for (const folder of ["components/", "app/"])
    for (const name of readdirSync(fileURLToPath(new URL(folder, ROOT)), {
      recursive: true,
      encoding: "utf8",
    })) {
      if (!name.endsWith(".tsx")) continue;
      const source = readFileSync(new URL(folder + name, ROOT), "utf8");
      for (const [, text = ""] of source.matchAll(/["`]([^"`\n]*)["`]/g))
        for (const word of text.split(/\s+/)) words.add(word);
    }
  // `tailwind-merge` removes the first of two equal classes only if it knows the class.
  return [...words].filter(
    (word) => word !== "" && twMerge(`${word} x-unknown ${word}`) === `x-unknown ${word}`,
  );
}

/** `line-clamp-2` sets the overflow in both directions; `tailwind-merge` keeps `overflow-y-auto` before it. */
const isOfClamp = (one: string, other: string) => /overflow-[xy]-/.test(one) && /line-clamp-/.test(other);

test("two classes of the pages are merged as tailwind-merge merges them", () => {
  const classes = listClasses();
  assert.ok(classes.length > 400, `only ${classes.length} classes were found`);
  const wrong: string[] = [];
  for (const one of classes)
    for (const other of classes)
      if (one !== other && !isOfClamp(one, other) && cn(one, other) !== twMerge(one, other))
        wrong.push(`${one} ${other}`);
  assert.deepEqual(wrong.slice(0, 40), []);
});

test("the later of several classes wins, with variants of their own", () => {
  assert.equal(cn("h-6 px-2 max-lg:h-8", "h-7", false, "pl-3"), "px-2 max-lg:h-8 h-7 pl-3");
  assert.equal(cn("pl-3 pr-2", "px-1"), "px-1");
  assert.equal(cn("size-4", "h-5"), "size-4 h-5");
  assert.equal(cn("custom", "custom-2", undefined), "custom custom-2");
});
