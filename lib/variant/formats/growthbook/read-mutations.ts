import type { ChangeInput } from "../../document.ts";
import type { DraftChange } from "../imported/collect-pages.ts";
import { quote } from "../imported/imported.ts";
import { toContentChange } from "../imported/read-content.ts";
import { unwrapSelector } from "../portable/selector.ts";
import { readDeclarations } from "../portable/style.ts";
import { NOT_SVG, notInside, toRemoval } from "./growthbook-mutation.ts";
import type { ImportedMutation } from "./growthbook-sources.ts";

/** Removes from a selector what an export of this service has added to it. */
const readSelector = (selector: string): string =>
  unwrapSelector(selector.endsWith(NOT_SVG) ? selector.slice(0, -NOT_SVG.length) : selector);

const isEqual = (mutation: ImportedMutation | undefined, other: ImportedMutation): boolean =>
  mutation !== undefined &&
  (["selector", "action", "attribute", "value"] as const).every((name) => mutation[name] === other[name]);

/**
 * Converts the mutations of a variation to changes. For each mutation without an equivalent, adds a sentence to
 * `omitted`.
 */
export function readMutations(mutations: ImportedMutation[], path: string, omitted: string[]): DraftChange[] {
  const changes: DraftChange[] = [];
  for (let index = 0; index < mutations.length; index++) {
    const mutation = mutations[index];
    if (!mutation) continue;
    const place = `${path}.domMutations[${index}]`;
    const [hiding, disabling] = toRemoval(mutation.selector);
    if (isEqual(mutation, hiding) && isEqual(mutations[index + 1], disabling)) {
      changes.push({ path: place, change: { op: "remove", selector: readSelector(mutation.selector) } });
      index++;
      continue;
    }
    const read = readMutation(mutation);
    if (isAppended(mutation, read))
      omitted.push(
        `${place}: it sets the attribute; GrowthBook would add its value to one that an element has already.`,
      );
    if (typeof read === "string") omitted.push(`${place}: ${read}.`);
    else changes.push(...read.map((change) => ({ path: place, change })));
  }
  return changes;
}

/** Whether a mutation that appends to an attribute was read as one that sets it. */
const isAppended = ({ action }: ImportedMutation, read: ChangeInput[] | string): boolean =>
  action === "append" && typeof read !== "string" && read.some(({ op }) => op === "setAttribute");

/** Converts a mutation to changes. Returns the reason as a text if the mutation has no equivalent. */
function readMutation(mutation: ImportedMutation): ChangeInput[] | string {
  const selector = readSelector(mutation.selector);
  const { action, attribute } = mutation;
  const value = mutation.value ?? "";
  switch (attribute) {
    case "html":
      if (action === "set") return [toContentChange(selector, value)];
      if (action === "append") return [{ op: "insert", selector, position: "end", html: value }];
      return unknown(mutation);
    case "class":
      return readClass(mutation, selector);
    case "className":
      return action === "set" ? readClass({ ...mutation, value }, selector) : unknown(mutation);
    case "position":
      return readPosition(mutation, selector);
    default:
  }
  if (action === "set") return [{ op: "setAttribute", selector, name: attribute, value }];
  if (action === "remove") return [{ op: "removeAttribute", selector, name: attribute }];
  if (action !== "append") return unknown(mutation);
  const style = attribute === "style" ? readDeclarations(value) : undefined;
  if (style) return [{ op: "setStyle", selector, style }];
  if (attribute === "style") return "text cannot be added to a style unless it has declarations";
  // GrowthBook's editor appends to attributes that the element does not have yet, which sets them.
  return [{ op: "setAttribute", selector, name: attribute, value }];
}

const unknown = ({ action, attribute }: ImportedMutation): string =>
  `GrowthBook has no action ${quote(action)} for ${quote(attribute)}`;

function readClass({ action, value }: ImportedMutation, selector: string): ChangeInput[] | string {
  const text = value ?? "";
  if (action === "set")
    return text === ""
      ? [{ op: "removeAttribute", selector, name: "class" }]
      : [{ op: "setAttribute", selector, name: "class", value: text }];
  const op = { append: "addClass" as const, remove: "removeClass" as const }[action];
  const names = text.split(/\s+/).filter(Boolean);
  if (op === undefined || names.length === 0 || (op === "removeClass" && names.length > 1))
    return `it changes no class`;
  return names.map((className) => ({ op, selector, className }));
}

const readParent = (selector: string, end: string): string =>
  unwrapSelector(selector.endsWith(end) ? selector.slice(0, -end.length) : selector);

function readPosition(
  { action, selector: moved, parentSelector, insertBeforeSelector }: ImportedMutation,
  selector: string,
): ChangeInput[] | string {
  if (action !== "set" || !parentSelector) return "it has no parentSelector to move to";
  return insertBeforeSelector
    ? [{ op: "move", selector, position: "before", target: unwrapSelector(insertBeforeSelector) }]
    : [{ op: "move", selector, position: "end", target: readParent(parentSelector, notInside(moved)) }];
}
