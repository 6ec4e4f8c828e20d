import type { Place } from "./find-places.ts";
import type { Leaf, ValueRecord } from "./list-values.ts";
import { isPieceEnd } from "./search-index.ts";
import type { DocumentNode, SeenDocument } from "./seen-document.ts";

/** Where the values of a deliverable are in one document. */
type PlacesOf = ReadonlyMap<Leaf, Place[]>;

/**
 * How a value of a record is in a document. `near`: next to the other values of its record. `away`: not there,
 * although the values of this field usually are, or although it is next to those of another record. `absent`: the
 * entry of the record has another value of this field.
 */
export type Judgement = "near" | "away" | "absent";

type Range = { start: number; end: number };

/** The ranges of a document that belong to a record: the entry itself, and the lines after and before it. */
type Territory = { own: Range; after: Range; before: Range };

const ANCHORS_MAX = 6;
const FIELDS_TRIED_MAX = 4;
/** A field whose values are near in fewer of the records is not a field of the entries, such as a common heading. */
const USUAL_SHARE = 0.5;

/**
 * Judges the values of one group of records in a document: whether each is near the others of its record. Values
 * about which the document says nothing have no judgement.
 *
 * The entry of a record is the largest part of the document that has the record's own name and no name of another
 * record, and, if entries have several lines of the same depth, the lines up to the next name.
 */
export function judgeRecords(
  document: SeenDocument,
  records: ValueRecord[],
  places: PlacesOf,
): Map<Leaf, Judgement> {
  if (records.length === 1 && records[0]) return judgeAlone(document, records[0], places);
  const fields = rankFields(records, places);
  let best: { judgements: Map<Leaf, Judgement>; near: number } | undefined;
  for (const field of fields.slice(0, FIELDS_TRIED_MAX)) {
    const judgements = judgeByAnchor(document, records, places, field, fields);
    const near = [...judgements.values()].filter((judgement) => judgement === "near").length;
    if (!best || near > best.near) best = { judgements, near };
  }
  return best?.judgements ?? new Map();
}

/** Lists the fields that can name a record, best first: their values differ, and are in few places of the document. */
function rankFields(records: ValueRecord[], places: PlacesOf): string[] {
  const scores = new Map<string, number>();
  for (const { leaves } of records)
    for (const leaf of leaves) {
      const found = places.get(leaf)?.length ?? 0;
      if (!scores.has(leaf.field)) scores.set(leaf.field, 0);
      if (found === 0 || !leaf.isDistinct) continue;
      const isName = typeof leaf.value === "string" && /\p{L}{2}/u.test(leaf.value);
      scores.set(leaf.field, (scores.get(leaf.field) ?? 0) + (isName ? 2 : 1) / Math.min(found, 3));
    }
  return [...scores]
    .filter(([, score]) => score > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([field]) => field);
}

type Anchored = { record: ValueRecord; anchor: Leaf; candidates: Territory[] };

function judgeByAnchor(
  document: SeenDocument,
  records: ValueRecord[],
  places: PlacesOf,
  field: string,
  others: string[],
): Map<Leaf, Judgement> {
  const anchors = new Map<ValueRecord, Leaf>();
  for (const record of records) {
    // A record without the usual name, such as one whose name was invented, is found by another field.
    const leaf = [field, ...others]
      .map((name) => record.leaves.find((each) => each.field === name))
      .find((each) => each?.isDistinct && (places.get(each)?.length ?? 0) > 0);
    if (leaf) anchors.set(record, leaf);
  }
  const marks = [...anchors].flatMap(([record, anchor]) =>
    preferWhole(document, places.get(anchor) ?? [])
      .slice(0, ANCHORS_MAX)
      .map((place) => ({ record, place })),
  );
  marks.sort((one, other) => one.place.start - other.place.start);
  const anchored: Anchored[] = [...anchors].map(([record, anchor]) => ({
    record,
    anchor,
    candidates: marks
      .filter((mark) => mark.record === record)
      .map(({ place }) => territoryOf(document, place, foreignMarks(marks, record))),
  }));
  return conclude(anchored, places);
}

type Mark = { record: ValueRecord; place: Place };

const foreignMarks = (marks: Mark[], record: ValueRecord): Place[] =>
  marks.filter((mark) => mark.record !== record).map(({ place }) => place);

/** Prefers the places at which a value is a whole piece of a line over mentions of it. */
function preferWhole({ search }: SeenDocument, places: Place[]): Place[] {
  const whole = places.filter(({ start, end }) => isPieceEnd(search, start - 1) && isPieceEnd(search, end));
  return whole.length > 0 ? whole : places;
}

const EVERYWHERE = Number.MAX_SAFE_INTEGER;
const NOWHERE: Range = { start: 0, end: 0 };

/** `foreign` has the marks of other records, in order. */
function territoryOf({ root }: SeenDocument, place: Place, foreign: Place[]): Territory {
  const own = largestOwn(root, place, foreign);
  if (!own) {
    // Another record's name is in the same line: the entry is what lies between the names.
    const before = foreign.findLast(({ end }) => end <= place.start);
    const after = foreign.find(({ start }) => start >= place.end);
    return {
      own: place,
      after: { start: place.end, end: after?.start ?? EVERYWHERE },
      before: { start: before?.end ?? 0, end: place.start },
    };
  }
  if (!own.parent) return { own: { start: 0, end: EVERYWHERE }, after: NOWHERE, before: NOWHERE };
  const siblings = own.parent.children;
  const index = siblings.indexOf(own);
  const hasForeign = (node: DocumentNode) => countWithin(foreign, node) > 0;
  const next = siblings.findIndex((node, at) => at > index && hasForeign(node));
  const previous = siblings.findLastIndex((node, at) => at < index && hasForeign(node));
  return {
    own: { start: own.start, end: own.end },
    after: { start: own.end, end: (next === -1 ? own.parent.end : siblings[next]?.start) ?? own.parent.end },
    before: {
      start: (previous === -1 ? own.parent.start : siblings[previous]?.end) ?? own.parent.start,
      end: own.start,
    },
  };
}

/** Returns the largest node with the place and no foreign mark; undefined if even its line has one. */
function largestOwn(root: DocumentNode, place: Place, foreign: Place[]): DocumentNode | undefined {
  let node: DocumentNode | undefined = root;
  while (node && countWithin(foreign, node) > 0) node = childAt(node, place.start);
  return node;
}

/** Finds the child that contains an offset. The children of a node are in order. */
function childAt({ children }: DocumentNode, at: number): DocumentNode | undefined {
  let [low, high] = [0, children.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const child = children[middle];
    if (!child) return undefined;
    if (at < child.start) high = middle - 1;
    else if (at >= child.end) low = middle + 1;
    else return child;
  }
  return undefined;
}

/** Whether ordered places have one within a range: 0 or 1. */
function countWithin(ordered: Place[], { start, end }: Range): number {
  let [low, high] = [0, ordered.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ordered[middle]?.start ?? 0) < start) low = middle + 1;
    else high = middle;
  }
  const first = ordered[low];
  return first && first.start < end ? 1 : 0;
}

const SIDES = ["own", "after", "before"] as const;
type Side = (typeof SIDES)[number];

const isWithin = (places: Place[], range: Range): boolean =>
  places.some(({ start, end }) => start >= range.start && end <= range.end);

/** Learns on which side of the name each field is, and judges the values by it. */
function conclude(anchored: Anchored[], places: PlacesOf): Map<Leaf, Judgement> {
  const entries = anchored.flatMap(({ record, anchor, candidates }) => {
    const leaves = record.leaves.filter((leaf) => leaf !== anchor);
    const count = (territory: Territory) =>
      leaves.filter((leaf) => SIDES.some((side) => isWithin(places.get(leaf) ?? [], territory[side]))).length;
    const territory = candidates.toSorted((one, other) => count(other) - count(one))[0];
    return territory ? [{ anchor, leaves, territory }] : [];
  });
  const votes = new Map<string, Record<Side, number> & { total: number }>();
  for (const { leaves, territory } of entries)
    for (const leaf of leaves) {
      const found = places.get(leaf) ?? [];
      if (found.length === 0) continue;
      const vote = votes.get(leaf.field) ?? { own: 0, after: 0, before: 0, total: 0 };
      votes.set(leaf.field, vote);
      vote.total += 1;
      for (const side of SIDES) if (isWithin(found, territory[side])) vote[side] += 1;
    }
  const all = [...votes.values()];
  const sideOf = (field: string): Side => {
    const vote = votes.get(field);
    const [side = "own"] = vote ? SIDES.toSorted((one, other) => vote[other] - vote[one]) : [];
    return side;
  };
  const total = all.reduce((sum, vote) => sum + vote.total, 0);
  const nearTotal = [...votes].reduce((sum, [field, vote]) => sum + vote[sideOf(field)], 0);
  const isOrdered = entries.length > 1 && nearTotal >= total * USUAL_SHARE;
  const isAtOther = (found: Place[], own: Territory, side: Side) =>
    found.every((place) =>
      entries.some(
        ({ territory }) =>
          territory !== own && (isWithin([place], territory.own) || isWithin([place], territory[side])),
      ),
    );
  const judgements = new Map<Leaf, Judgement>();
  for (const { anchor, leaves, territory } of entries) {
    let near = 0;
    for (const leaf of leaves) {
      const found = places.get(leaf) ?? [];
      const vote = votes.get(leaf.field);
      if (!vote) continue;
      const side = sideOf(leaf.field);
      const isUsual = vote[side] >= vote.total * USUAL_SHARE && vote.total > 1;
      if (found.length === 0) {
        if (isUsual && vote.total > 2) judgements.set(leaf, "absent");
        continue;
      }
      const isNear = isWithin(found, territory.own) || isWithin(found, territory[side]);
      if (isNear) near += 1;
      if (isNear) judgements.set(leaf, "near");
      else if (isUsual || (isOrdered && isAtOther(found, territory, side))) judgements.set(leaf, "away");
    }
    if (near > 0 || leaves.length === 0) judgements.set(anchor, "near");
  }
  return judgements;
}

const ALIKE_MIN = 3;

/**
 * Judges a record that has no others next to it, such as one product of a list: if most of its values are in one of
 * several entries of the same shape, a value that is only in another of these entries is away.
 */
function judgeAlone(document: SeenDocument, { leaves }: ValueRecord, places: PlacesOf): Map<Leaf, Judgement> {
  const found = leaves.filter((leaf) => (places.get(leaf)?.length ?? 0) > 0);
  const judgements = new Map<Leaf, Judgement>();
  if (found.length < 3) return judgements;
  const counts = new Map<DocumentNode, Set<Leaf>>();
  for (const leaf of found)
    for (const { start } of places.get(leaf) ?? [])
      for (let node = childAt(document.root, start); node; node = childAt(node, start)) {
        const held = counts.get(node) ?? new Set();
        counts.set(node, held.add(leaf));
      }
  const entries = [...counts]
    .filter(([node]) => isEntry(node))
    .sort(([, one], [, other]) => other.size - one.size);
  const [home] = entries;
  if (!home || home[1].size * 2 <= found.length || entries[1]?.[1].size === home[1].size) return judgements;
  const [node, near] = home;
  const list = node.parent;
  if (!list) return judgements;
  for (const leaf of found) {
    if (near.has(leaf)) judgements.set(leaf, "near");
    else if ((places.get(leaf) ?? []).every((place) => place.start >= list.start && place.end <= list.end))
      judgements.set(leaf, "away");
  }
  return judgements;
}

/** Whether a node is one of several of the same shape, and can hold a record. */
function isEntry(node: DocumentNode): boolean {
  const size = node.pieces || node.children.length;
  if (size < 2 || !node.parent) return false;
  const alike = node.parent.children.filter(
    (other) => other.pieces === node.pieces && other.children.length === node.children.length,
  );
  return alike.length >= ALIKE_MIN;
}
