import type { PageFacts } from "./page-facts.ts";
import type { PageElement } from "./page-reading.ts";

/** The values in which a property name is looked up: the values of the page, or of one element of a list. */
export type Scope = { values: Record<string, unknown>; lists: Record<string, Scope[]>; words: string };

const synonyms: Record<string, string> = {
  ...Object.fromEntries(["uri", "href", "address", "source", "location"].map((word) => [word, "url"])),
  ...Object.fromEntries(
    [
      "description",
      "notes",
      "note",
      "comment",
      "explanation",
      "overview",
      "findings",
      "finding",
      "answer",
      "conclusion",
      "report",
      "details",
    ].map((word) => [word, "summary"]),
  ),
  ...Object.fromEntries(["label", "question", "caption"].map((word) => [word, "name"])),
  ...Object.fromEntries(["type", "kind", "control", "widget"].map((word) => [word, "role"])),
  ...Object.fromEntries(["mandatory", "obligatory"].map((word) => [word, "required"])),
  ...Object.fromEntries(["cost", "amount"].map((word) => [word, "price"])),
  ...Object.fromEntries(
    ["inputs", "questions", "labels", "requirements", "controls", "asks"].map((word) => [word, "fields"]),
  ),
  ...Object.fromEntries(["sections", "headlines", "titles", "outline"].map((word) => [word, "headings"])),
  ...Object.fromEntries(["actions", "ctas"].map((word) => [word, "buttons"])),
  ...Object.fromEntries(["items", "offers", "goods"].map((word) => [word, "products"])),
  navigation: "links",
  costs: "prices",
  css: "selector",
};

/** Returns the words of a name in camelCase, snake_case or kebab-case, in lower case. */
export function wordsOf(name: string): string[] {
  return name
    .slice(0, 200)
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== "");
}

const canonical = (word: string) => synonyms[word] ?? word;

/**
 * Finds the value for a property name by the last word of the name. For a name such as `fieldCount`, returns the length
 * of the list `fields`.
 */
export function findFact(scope: Scope, name: string): unknown {
  const words = wordsOf(name);
  if (words.some((word) => /^(count|number|total|num)$/.test(word))) {
    const counted = words.map((word) => canonical(word.endsWith("s") ? word : `${word}s`));
    const found = counted.find((word) => scope.lists[word] !== undefined);
    if (found !== undefined) return scope.lists[found]?.length;
  }
  return scope.values[canonical(words.at(-1) ?? "")];
}

/**
 * Finds the list that matches the name of an array, otherwise the list that matches a word of the array's description.
 * For a name such as `requiredFields`, returns only the required fields. Returns an empty list if no list matches.
 */
export function findList(scope: Scope, name: string, description: unknown): Scope[] {
  const last = canonical(wordsOf(name).at(-1) ?? "");
  const found = scope.lists[last] ?? scope.lists[`${last}s`];
  if (found !== undefined) {
    const isRequiredOnly = wordsOf(name).includes("required") && last === "fields";
    return isRequiredOnly ? found.filter(({ values }) => values.required === true) : found;
  }
  const described = typeof description === "string" ? wordsOf(description) : [];
  for (const word of described) {
    const plural = canonical(word.endsWith("s") ? word : `${word}s`);
    if (scope.lists[plural] !== undefined) return scope.lists[plural];
  }
  return [];
}

const scopeOf = (values: Record<string, unknown>): Scope => ({
  values: { ...values, value: values.value ?? values.name },
  lists: {},
  words: Object.values(values).join(" ").toLowerCase(),
});

const elementScope = ({ role, name, text, selector, value, required }: PageElement): Scope =>
  scopeOf({
    role,
    name: name || text || role,
    title: name || text,
    text: text || name,
    selector,
    ...(value === undefined ? {} : { value }),
    ...(required === undefined ? {} : { required }),
  });

/** Converts the facts of a page to a scope for lookups by name. */
export function buildScope(facts: PageFacts): Scope {
  const texts = (values: string[]) =>
    values.map((text) => scopeOf({ name: text, text, title: text, heading: text }));
  const products = facts.products.map(({ name, price, amount }) =>
    scopeOf({ name: name || price, title: name || price, text: `${name} ${price}`.trim(), price, amount }),
  );
  const lists: Record<string, Scope[]> = {
    fields: facts.fields.map(elementScope),
    headings: texts(facts.headings),
    links: facts.links.map(elementScope),
    buttons: texts(facts.buttons),
    products,
    forms: facts.forms.map(elementScope),
    prices: facts.products.map(({ name, price, amount }) =>
      scopeOf({ name: price, text: price, title: name, price, amount }),
    ),
  };
  const values: Record<string, unknown> = {
    url: facts.url,
    title: facts.title,
    name: facts.title,
    page: facts.url ?? facts.title,
    heading: facts.headings[0],
    headline: facts.headings[0],
    price: facts.products[0]?.price,
    summary: facts.summary,
    partial: facts.isPartial,
  };
  const words = [
    facts.title,
    facts.url,
    ...facts.headings,
    ...facts.fields.map(({ name }) => name),
    ...facts.buttons,
  ];
  return { values, lists, words: words.join(" ").toLowerCase() };
}
