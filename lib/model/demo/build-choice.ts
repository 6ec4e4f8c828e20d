import { findFact, type Scope, wordsOf } from "./match-fact.ts";

/** Where the value stands: the name of its property, what is known there, and its turn in a list. */
type Choice = { name: string; scope: Scope; position?: number };

const aliases: Record<string, string[]> = {
  textbox: ["text", "input", "string", "email"],
  combobox: ["select", "choice", "dropdown", "list"],
  spinbutton: ["number"],
  checkbox: ["boolean", "toggle"],
};

/** The member that the page speaks of, else null where allowed, else the member at the place's turn. */
export function buildEnum(members: unknown[], { name, scope, position }: Choice): unknown {
  const fact = findFact(scope, name);
  const wanted = typeof fact === "string" ? [fact, ...(aliases[fact] ?? [])] : [fact];
  const exact = wanted.find((value) => value !== undefined && members.includes(value));
  if (exact !== undefined) return exact;
  const spoken = members.find(
    (member) => typeof member === "string" && member.length > 2 && scope.words.includes(member.toLowerCase()),
  );
  if (spoken !== undefined && position === undefined) return spoken;
  return members.includes(null) ? null : members[(position ?? 0) % Math.max(members.length, 1)];
}

/** What the page says, or whether the page speaks of the thing that the name asks for (`hasNewsletter`); else false. */
export function buildBoolean({ name, scope }: Choice): boolean {
  const fact = findFact(scope, name);
  if (typeof fact === "boolean") return fact;
  const words = wordsOf(name);
  const [first, ...rest] = words;
  if (first === undefined || !/^(has|shows|offers|contains|includes|asks|requires)$/.test(first))
    return false;
  return (
    rest.length > 0 &&
    rest.every((word) => scope.words.includes(word) || (scope.lists[word]?.length ?? 0) > 0)
  );
}
