import { createHash } from "node:crypto";
import type { DomNode } from "#lib/injected/check/snapshot-dom.ts";
import { shorten } from "#lib/text/shorten.ts";

/** A difference between two snapshots of a document. */
export type DomDifference = {
  /**
   * Identifies the position and the kind of the difference. The same difference in another snapshot has the same key.
   */
  key: string;
  /** Like `key`, but without the positions of elements among their siblings. */
  looseKey: string;
  description: string;
  /** Id of the change that affects the element or one of its ancestors. Null if no change does. */
  changeId: string | null;
};

/** A position in the document. `path` has sibling indexes, `loosePath` has none, and `shown` is the form for people. */
type NodePosition = { path: string; loosePath: string; shown: string; changeId: string | null };

/**
 * Maximum number of children between the common start and the common end of two lists of children. If one of the lists
 * has more, equal children are not searched for among them, because the search would take too long.
 */
const ALIGNED_MAX = 400;
const TEXT_SHOWN = 80;

/** Lists the differences between a snapshot and the control snapshot. */
export function listDifferences(control: DomNode, other: DomNode): DomDifference[] {
  const place: NodePosition = { path: "", loosePath: "", shown: "", changeId: null };
  return compareNodes(control, other, place, new Map());
}

/** Removes the differences that also occur without the variant, for example because of clocks and random ids. */
export function withoutNoise(found: DomDifference[], noise: DomDifference[]): DomDifference[] {
  const keys = new Set(noise.map(({ key }) => key));
  const looseKeys = new Map<string, Set<string>>();
  for (const { key, looseKey } of noise)
    looseKeys.set(looseKey, (looseKeys.get(looseKey) ?? new Set()).add(key));
  // If the same difference occurs without the variant at two or more positions that differ only in sibling indexes, it
  // counts as noise at all such positions.
  return found.filter(({ key, looseKey }) => !keys.has(key) && (looseKeys.get(looseKey)?.size ?? 0) < 2);
}

type Hashes = Map<DomNode, string>;

function compareNodes(
  control: DomNode,
  other: DomNode,
  place: NodePosition,
  hashes: Hashes,
): DomDifference[] {
  const changeId = other.changeId ?? place.changeId;
  const at = (kind: string, description: string): DomDifference => ({
    key: `${place.path}|${kind}`,
    looseKey: `${place.loosePath}|${kind}`,
    description,
    changeId,
  });
  const where = place.shown || "the document";
  if (control.text !== other.text)
    return [at("text", `the text of ${where} is ${quote(other.text)} instead of ${quote(control.text)}`)];
  return [
    ...compareAttributes(control, other, where, at),
    ...compareChildren(control, other, { ...place, changeId }, hashes, at),
  ];
}

type Describe = (kind: string, description: string) => DomDifference;

function compareAttributes(control: DomNode, other: DomNode, where: string, at: Describe): DomDifference[] {
  const names = new Set([...Object.keys(control.attributes), ...Object.keys(other.attributes)]);
  return [...names].flatMap((name) => {
    const [before, after] = [control.attributes[name], other.attributes[name]];
    if (before === after) return [];
    // The attribute's name may be random, so all added and removed attributes of an element share one key.
    if (before === undefined)
      return [at("attributes", `${where} has the attribute ${name}=${quote(after ?? "")}`)];
    if (after === undefined) return [at("attributes", `${where} lost the attribute ${name}`)];
    return [at(`attribute ${name}`, `${where} has ${name}=${quote(after)} instead of ${quote(before)}`)];
  });
}

function compareChildren(
  control: DomNode,
  other: DomNode,
  place: NodePosition,
  hashes: Hashes,
  at: Describe,
): DomDifference[] {
  const where = place.shown || "the document";
  return alignChildren(control.children, other.children, hashes).flatMap(({ before, after, index }) => {
    if (before && after && before.name === after.name)
      return compareNodes(before, after, step(place, before, index), hashes);
    const leftover = after
      ? [
          {
            ...at("children", `${label(after)} was left in ${where}`),
            changeId: after.changeId ?? place.changeId,
          },
        ]
      : [];
    const missing = before ? [at("children", `${label(before)} is missing in ${where}`)] : [];
    return [...leftover, ...missing];
  });
}

function step(place: NodePosition, node: DomNode, index: number): NodePosition {
  const join = (path: string, last: string) => (path === "" ? last : `${path} > ${last}`);
  return {
    path: join(place.path, `${node.name}[${index}]`),
    loosePath: join(place.loosePath, node.name),
    shown: join(place.shown, node.attributes.id ? `${node.name}#${node.attributes.id}` : node.name),
    changeId: place.changeId,
  };
}

/**
 * Two nodes to compare, or one node without a counterpart. `index` is the index of `before` among its siblings. If
 * `before` is undefined, `index` is the index of the next sibling in the control snapshot.
 */
type Pair = { before: DomNode | undefined; after: DomNode | undefined; index: number };

/**
 * Pairs equal children first. Then pairs the remaining children between them: in order if both lists have the same
 * number of children there, and otherwise by name and id.
 */
function alignChildren(control: DomNode[], other: DomNode[], hashes: Hashes): Pair[] {
  const pairs: Pair[] = [];
  let [from, fromOther] = [0, 0];
  const closeGap = (to: number, toOther: number) => {
    const [gap, gapOther] = [control.slice(from, to), other.slice(fromOther, toOther)];
    if (gap.length === gapOther.length)
      gap.forEach((before, offset) => {
        pairs.push({ before, after: gapOther[offset], index: from + offset });
      });
    else pairs.push(...pairByName(gap, gapOther, from));
  };
  for (const [index, otherIndex] of findCommon(control, other, hashes)) {
    closeGap(index, otherIndex);
    [from, fromOther] = [index + 1, otherIndex + 1];
  }
  closeGap(control.length, other.length);
  return pairs;
}

/**
 * Pairs each node of `gap` with the next node of `gapOther` that has the same name and id. A node without a counterpart
 * is paired with undefined.
 */
function pairByName(gap: DomNode[], gapOther: DomNode[], from: number): Pair[] {
  let at = 0;
  const pairs: Pair[] = [];
  gap.forEach((before, offset) => {
    const found = gapOther.findIndex(
      (after, index) =>
        index >= at && after.name === before.name && after.attributes.id === before.attributes.id,
    );
    const end = found < 0 ? at : found;
    for (const after of gapOther.slice(at, end))
      pairs.push({ before: undefined, after, index: from + offset });
    pairs.push({ before, after: gapOther[found], index: from + offset });
    at = found < 0 ? at : found + 1;
  });
  for (const after of gapOther.slice(at)) pairs.push({ before: undefined, after, index: from + gap.length });
  return pairs;
}

/**
 * Finds a longest common subsequence of equal nodes. Between the common start and the common end, nothing is found if
 * one of the lists is longer than `ALIGNED_MAX` there. Returns the index of each common node in both lists.
 */
function findCommon(control: DomNode[], other: DomNode[], hashes: Hashes): [number, number][] {
  const [left, right] = [control, other].map((nodes) => nodes.map((node) => hashOf(node, hashes)));
  if (!left || !right) return [];
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (
    end < Math.min(left.length, right.length) - start &&
    left[left.length - 1 - end] === right[right.length - 1 - end]
  )
    end += 1;
  const common: [number, number][] = Array.from({ length: start }, (_, index) => [index, index]);
  common.push(
    ...findMiddle(left.slice(start, left.length - end), right.slice(start, right.length - end), start),
  );
  for (let back = end; back > 0; back -= 1) common.push([left.length - back, right.length - back]);
  return common;
}

function findMiddle(left: string[], right: string[], offset: number): [number, number][] {
  if (left.length > ALIGNED_MAX || right.length > ALIGNED_MAX) return [];
  const lengths = Array.from({ length: left.length + 1 }, () => new Array<number>(right.length + 1).fill(0));
  const lengthAt = (row: number, column: number) => lengths[row]?.[column] ?? 0;
  for (let row = left.length - 1; row >= 0; row -= 1)
    for (let column = right.length - 1; column >= 0; column -= 1) {
      const length =
        left[row] === right[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
      lengths[row]?.splice(column, 1, length);
    }
  const common: [number, number][] = [];
  for (let [row, column] = [0, 0]; row < left.length && column < right.length; ) {
    if (left[row] === right[column]) common.push([offset + row++, offset + column++]);
    else if (lengthAt(row + 1, column) >= lengthAt(row, column + 1)) row += 1;
    else column += 1;
  }
  return common;
}

function hashOf(node: DomNode, hashes: Hashes): string {
  const cached = hashes.get(node);
  if (cached !== undefined) return cached;
  const attributes = Object.entries(node.attributes).sort(([one], [two]) => (one < two ? -1 : 1));
  const content = [node.name, node.text, attributes, node.children.map((each) => hashOf(each, hashes))];
  const hash = createHash("sha1").update(JSON.stringify(content)).digest("base64");
  hashes.set(node, hash);
  return hash;
}

const quote = (text: string) => JSON.stringify(shorten(text, TEXT_SHOWN));

function label({ name, attributes, text }: DomNode): string {
  if (name.startsWith("#")) return `${name.slice(1).replace("-", " ")} ${quote(text)}`;
  const shown = ["id", "class"].flatMap((key) =>
    attributes[key] ? [` ${key}=${quote(attributes[key])}`] : [],
  );
  return `<${name}${shown.join("")}>`;
}
