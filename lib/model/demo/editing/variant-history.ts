import { readData, unquote } from "../page-reading.ts";
import type { ToolExchange } from "../situation.ts";

/** A change that an answer of `apply_variant` lists. */
export type ListedChange = {
  id: string;
  op: string;
  selector: string;
  /** How many elements it found, in words, and what else is said of it. */
  found: string;
  /** The first elements, before and after; `after` is undefined if the text stayed the same. */
  elements: { label: string; before: string; after?: string }[];
};

/** What a stored revision added, as far as it is still in the variant. */
type ChangeGroup = { revision: number; ids: string[] };

/** The variant as the answers of `apply_variant` in the transcript tell it. */
export type VariantHistory = {
  /** Newest known revision; 0 without one. */
  newest: number;
  /** Oldest first; without those whose changes were all dropped. */
  groups: ChangeGroup[];
  /** Every change that an answer has listed, by its id. */
  listed: Map<string, ListedChange>;
};

const STORED = /^Stored revision (\d{1,6}) of variant main\./m;
/** An answer with this sentence lists every change of the variant. */
const SHOWN = /^Stored revision .* The live page shows it\.$/m;
const NEWEST = /\bbaseRevision: .*\bnewest revision is (\d{1,6})/;
const NO_REVISION = /\bbaseRevision: the variant has no revision yet/;
const ELSEWHERE = /^Not tried, because the live page is another one: (.{1,5000}?)\. check_variant/m;
const CHANGE_LINE = /^(\S{1,32}) ([a-zA-Z]{3,20}) ("(?:[^"\\]|\\.){1,2000}"): (.+)$/;
const ELEMENT_LINE = /^ {2}(.+?) text ("(?:[^"\\]|\\.)*")(?: → ("(?:[^"\\]|\\.)*"))? box /;
const GONE_LINE = /^ {2}(.+) box \S+ \S+ → gone$/;

/** The revision that an answer stored; undefined for other answers. */
export function readStored({ toolName, result }: ToolExchange): number | undefined {
  if (toolName !== "apply_variant" || result === undefined || result.isError) return undefined;
  const revision = STORED.exec(result.text)?.[1];
  return revision === undefined ? undefined : Number(revision);
}

/** The newest revision that a refusal of a stale `baseRevision` names. */
export function readNewest(refusal: string): number | undefined {
  if (NO_REVISION.test(refusal)) return 0;
  const newest = NEWEST.exec(refusal)?.[1];
  return newest === undefined ? undefined : Number(newest);
}

/**
 * Reads the variant `main` from the calls of a transcript, in their order.
 *
 * @param newest the newest revision as the instructions name it: people edit variants too.
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
    const known = new Set(history.groups.flatMap(({ ids }) => ids));
    const dropped = listDropped(input);
    for (const group of history.groups) group.ids = group.ids.filter((id) => !dropped.includes(id));
    history.groups.push({ revision, ids: listIds(result.text).filter((id) => !known.has(id)) });
    history.groups = history.groups.filter(({ ids }) => ids.length > 0);
  }
  history.newest = Math.max(history.newest, newest);
  return history;
}

/** Ids that a call of `apply_variant` drops. */
export const listDropped = ({ drop }: Record<string, unknown>): unknown[] =>
  Array.isArray(drop) ? drop : [];

/** Whether an answer stored a revision that has no change any more. */
export function isEmptied({ input, result }: ToolExchange): boolean {
  const text = result?.text ?? "";
  const isDropping = listDropped(input).length > 0 && input.add === undefined;
  return isDropping && SHOWN.test(text) && listIds(text).length === 0;
}

function listIds(text: string): string[] {
  const elsewhere = ELSEWHERE.exec(text)?.[1]?.split(", ") ?? [];
  return [...listChanges(text).map(({ id }) => id), ...elsewhere];
}

/** The changes that an answer of `apply_variant` lists, with what each found. */
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
