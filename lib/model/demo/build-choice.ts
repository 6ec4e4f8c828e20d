import { findFact, type Scope, wordsOf } from "./match-fact.ts";

/** The context of a value: the name of its property, the facts that it may use, and its index if it is in a list. */
type Choice = { name: string; scope: Scope; position?: number };

const aliases: Record<string, string[]> = {
  textbox: ["text", "input", "string", "email"],
  combobox: ["select", "choice", "dropdown", "list"],
  spinbutton: ["number"],
  checkbox: ["boolean", "toggle"],
};

/**
 * Chooses a member of an enum: the member that equals the page's fact for the name, or an alias of this fact. Without
 * such a member, the first member that the page mentions is chosen, but only outside a list. The last choice is null if
 * null is a member, otherwise the first member or, in a list, the member at `position` modulo the number of members.
 */
export function buildEnum(members: unknown[], { name, scope, position }: Choice): unknown {
  const fact = findFact(scope, name);
  const candidates = typeof fact === "string" ? [fact, ...(aliases[fact] ?? [])] : [fact];
  const exact = candidates.find((value) => value !== undefined && members.includes(value));
  if (exact !== undefined) return exact;
  const mentioned = members.find(
    (member) => typeof member === "string" && member.length > 2 && scope.words.includes(member.toLowerCase()),
  );
  if (mentioned !== undefined && position === undefined) return mentioned;
  return members.includes(null) ? null : members[(position ?? 0) % Math.max(members.length, 1)];
}

/**
 * Returns the page's fact for the name, if the fact is a boolean. Otherwise, for a name such as `hasNewsletter`,
 * returns whether the page mentions `newsletter`; for any other name, returns false.
 */
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
