import { readData, unquote } from "../page-reading.ts";
import type { ToolExchange } from "../tool-exchange.ts";

/** A change in a result of `apply_variant`. */
export type ListedChange = {
  id: string;
  op: string;
  selector: string;
  /** The rest of the line that lists the change: the number of elements found, and remarks. */
  found: string;
  /** The first elements that the change matched, with their texts. `after` is undefined if the text did not change. */
  elements: { label: string; before: string; after?: string }[];
};

/** The changes that a revision added and that are still in the variant. */
type ChangeGroup = { revision: number; ids: string[] };

/** The state of the variant, according to the results of `apply_variant` in the transcript. */
export type VariantHistory = {
  /** Newest known revision; 0 if there is none. */
  newest: number;
  /** The groups that still have changes, oldest first. */
  groups: ChangeGroup[];
  /** Every change that a result has listed, by id. */
  listed: Map<string, ListedChange>;
};

const STORED = /^Stored revision (\d{1,6}) of variant main\./m;
/** Matches a sentence that a result contains only if it lists every change of the variant. */
const SHOWN = /^Stored revision .* The live page shows it\.$/m;
const NEWEST = /\bbaseRevision: .*\bnewest revision is (\d{1,6})/;
const NO_REVISION = /\bbaseRevision: the variant has no revision yet/;
const ELSEWHERE = /^Not tried, because the live page is another one: (.{1,5000}?)\. check_variant/m;
const CHANGE_LINE = /^(\S{1,32}) ([a-zA-Z]{3,20}) ("(?:[^"\\]|\\.){1,2000}"): (.+)$/;
const ELEMENT_LINE = /^ {2}(.+?) text ("(?:[^"\\]|\\.)*")(?: → ("(?:[^"\\]|\\.)*"))? box /;
const GONE_LINE = /^ {2}(.+) box \S+ \S+ → gone$/;

/** Reads the revision that a call stored; undefined if it stored none. */
export function readStored({ toolName, result }: ToolExchange): number | undefined {
  if (toolName !== "apply_variant" || result === undefined || result.isError) return undefined;
  const revision = STORED.exec(result.text)?.[1];
  return revision === undefined ? undefined : Number(revision);
}

/** Reads the newest revision from the refusal of a stale `baseRevision`; undefined for any other refusal. */
export function readNewest(refusal: string): number | undefined {
  if (NO_REVISION.test(refusal)) return 0;
  const newest = NEWEST.exec(refusal)?.[1];
  return newest === undefined ? undefined : Number(newest);
}

/**
 * Reads the variant `main` from the calls of a transcript, in order.
 *
 * @param newest the newest revision according to the instructions. It may be newer than the revisions in the
 * transcript, because people edit variants too.
 */
export function readHistory(exchanges: ToolExchange[], newest = 0): VariantHistory {
  const history: VariantHistory = { newest: 0, groups: [], listed: new Map() };
  for (const exchange of exchanges) {
    const { toolName, input, result } = exchange;
    if (toolName !== "apply_variant" || result === undefined) continue;
    const revision = readStored(exchange);
    if (revision === undefined) {
      history.newest = (result.isError ? readNewest(result.text) : undefined) ?? history.newest;
      continue;
    }
    history.newest = revision;
    for (const change of listChanges(result.text)) history.listed.set(change.id, change);
    const knownIds = new Set(history.groups.flatMap(({ ids }) => ids));
    const dropped = listDropped(input);
    for (const group of history.groups) group.ids = group.ids.filter((id) => !dropped.includes(id));
    history.groups.push({ revision, ids: listIds(result.text).filter((id) => !knownIds.has(id)) });
    history.groups = history.groups.filter(({ ids }) => ids.length > 0);
  }
  history.newest = Math.max(history.newest, newest);
  return history;
}

/** Returns the ids of the changes that a call of `apply_variant` drops. */
export const listDropped = ({ drop }: Record<string, unknown>): unknown[] =>
  Array.isArray(drop) ? drop : [];

/** Whether a call dropped all remaining changes of the variant, so that it stored a revision without changes. */
export function isEmptied({ input, result }: ToolExchange): boolean {
  const text = result?.text ?? "";
  const isDropping = listDropped(input).length > 0 && input.add === undefined;
  return isDropping && SHOWN.test(text) && listIds(text).length === 0;
}

function listIds(text: string): string[] {
  const elsewhere = ELSEWHERE.exec(text)?.[1]?.split(", ") ?? [];
  return [...listChanges(text).map(({ id }) => id), ...elsewhere];
}

/** Reads the changes in a result of `apply_variant`. */
export function listChanges(text: string): ListedChange[] {
  const changes: ListedChange[] = [];
  for (const line of readData(text).split("\n")) {
    const [, id, op = "", selector, found = ""] = CHANGE_LINE.exec(line) ?? [];
    if (id !== undefined) changes.push({ id, op, selector: unquote(selector), found, elements: [] });
    const [, label, before, after] = ELEMENT_LINE.exec(line) ?? GONE_LINE.exec(line) ?? [];
    if (label === undefined) continue;
    const element = {
      label,
      before: unquote(before),
      ...(after === undefined ? {} : { after: unquote(after) }),
    };
    changes.at(-1)?.elements.push(element);
  }
  return changes;
}
