import { matchesAddress } from "#lib/injected/runtime/match-address.ts";
import type { ContentProblem } from "./compile/check-document.ts";
import {
  type Change,
  type ChangeInput,
  DEFAULT_VARIANT,
  type PageInput,
  type RevisionInput,
  VARIANT_LIMITS,
  type VariantDocument,
} from "./document.ts";

/** The ids that the changes of a variant have had. */
export type UsedIds = {
  /** The highest number of an id such as `c12`, in all revisions. */
  lastNumber: number;
  /** All ids of the revisions that are kept. */
  ids: ReadonlySet<string>;
};

type RevisionResult =
  | {
      ok: true;
      document: VariantDocument;
      /** The id that the call has given to a change, by the id that the change got instead. */
      givenIds: ReadonlyMap<string, string>;
    }
  | Refusal;
type Refusal = { ok: false; problem: string };

const NO_IDS: UsedIds = { lastNumber: 0, ids: new Set() };

/**
 * Applies a call to the newest document. `set` replaces all pages, and `drop` removes changes. `add`, `css` and `js` go
 * to the entry of `pages` that matches `pageUrl`. If no entry matches, a new one is added. A change in `add` replaces
 * the change of this entry that has the same id. No id of an earlier change is used again: a change with such an id gets
 * another one. Does not alter `document`. Returns a problem if `drop` names an
 * unknown change, or if there is something to add and `pageUrl` is not a web address.
 *
 * @param pageUrl address of the live page, or the session's target if there is no browser. Null if both are unknown.
 */
export function revise(
  document: VariantDocument,
  { set, add, drop, css, js }: RevisionInput,
  pageUrl: string | null,
  used: UsedIds = NO_IDS,
): RevisionResult {
  const before = set ?? document.pages;
  const existing = new Set(before.flatMap(({ changes }) => changes.flatMap(({ id }) => id ?? [])));
  const missing = (drop ?? []).find((id) => !existing.has(id));
  if (missing !== undefined)
    return {
      ok: false,
      problem: `drop: there is no change ${missing}. The variant has ${listIds(existing)}.`,
    };
  const pages: PageInput[] = before.map((page) => ({
    ...page,
    changes: page.changes.filter(({ id }) => id === undefined || !drop?.includes(id)),
  }));
  const isAdding = (add ?? []).length > 0 || css !== undefined || js !== undefined;
  const target = isAdding ? findTarget(pages, pageUrl) : undefined;
  if (isAdding && !target)
    return {
      ok: false,
      problem: "add: there is no page to add to. Open the page first, or give it with set.",
    };
  if (target) {
    for (const change of add ?? []) place(target, change);
    if (css !== undefined) target.css = css;
    if (js !== undefined) target.js = js;
  }
  return { ok: true, ...numberChanges(pages, document, used) };
}

const listIds = (ids: Set<string>): string => (ids.size === 0 ? "no changes" : [...ids].join(", "));

/**
 * Finds the entry of `pages` that matches an address, or adds one. Returns undefined if the address is not a web
 * address.
 */
function findTarget(pages: PageInput[], pageUrl: string | null): PageInput | undefined {
  if (pageUrl === null || !/^https?:/.test(pageUrl)) return undefined;
  const existing = pages.find((page) => matchesAddress(page, pageUrl));
  if (existing) return existing;
  const url = new URL(pageUrl);
  const page: PageInput = {
    url: `${url.origin}${url.pathname}`,
    match: "path",
    changes: [],
    css: "",
    js: "",
  };
  pages.push(page);
  return page;
}

function place(page: PageInput, change: ChangeInput): void {
  const index = change.id === undefined ? -1 : page.changes.findIndex(({ id }) => id === change.id);
  if (index === -1) page.changes.push(change);
  else page.changes[index] = change;
}

/**
 * Gives an id, `c` and the next number, to each change that has none, and to each change whose id belonged to a change
 * that is no longer in the variant.
 */
function numberChanges(
  pages: PageInput[],
  previous: VariantDocument,
  used: UsedIds,
): { document: VariantDocument; givenIds: Map<string, string> } {
  const present = new Set(previous.pages.flatMap(({ changes }) => changes.map(({ id }) => id)));
  const isFree = (id: string) => present.has(id) || !isUsed(id, used);
  const given = pages.flatMap(({ changes }) => changes.flatMap(({ id }) => id ?? []));
  const taken = new Set([...present, ...given]);
  let last = Math.max(used.lastNumber, ...[...taken].map(readNumber));
  const nextId = (): string => {
    do last += 1;
    while (taken.has(`c${last}`) || used.ids.has(`c${last}`));
    return `c${last}`;
  };
  const givenIds = new Map<string, string>();
  const number = ({ id: givenId, ...change }: ChangeInput): Change => {
    const id = givenId !== undefined && isFree(givenId) ? givenId : nextId();
    if (givenId !== undefined && id !== givenId) givenIds.set(id, givenId);
    // The id comes first, because people read the document.
    return { id, ...change } as Change;
  };
  const document = { pages: pages.map((page) => ({ ...page, changes: page.changes.map(number) })) };
  return { document, givenIds };
}

const readNumber = (id: string): number => Number(/^c(\d{1,6})$/.exec(id)?.[1] ?? 0);

const isUsed = (id: string, { lastNumber, ids }: UsedIds): boolean => {
  const number = readNumber(id);
  return ids.has(id) || (number > 0 && number <= lastNumber);
};

/** Returns the highest number of an id such as `c12` in a document; 0 if there is none. */
export const findLastNumber = ({ pages }: VariantDocument): number =>
  Math.max(0, ...pages.flatMap(({ changes }) => changes.map(({ id }) => readNumber(id))));

/** One edit that a person makes to a change. */
type ChangeEdit =
  | { action: "drop" | "off" | "on"; changeId: string }
  | { action: "setText"; changeId: string; text: string };

/** Applies a person's edits to a document, in order. Does not alter `document`. */
export function editChanges(
  document: VariantDocument,
  edits: readonly ChangeEdit[],
): { ok: true; document: VariantDocument } | Refusal {
  let pages = document.pages;
  for (const [index, edit] of edits.entries()) {
    const found = pages.flatMap(({ changes }) => changes).find(({ id }) => id === edit.changeId);
    if (!found)
      return { ok: false, problem: `edits[${index}].changeId: there is no change ${edit.changeId}` };
    if (edit.action === "setText" && found.op !== "setText")
      return { ok: false, problem: `edits[${index}].action: change ${edit.changeId} does not set a text` };
    pages = pages.map((page) => ({
      ...page,
      changes: page.changes.flatMap((change) => (change === found ? editChange(change, edit) : change)),
    }));
  }
  return { ok: true, document: { pages } };
}

function editChange(change: Change, edit: ChangeEdit): Change[] {
  if (edit.action === "drop") return [];
  if (edit.action === "setText") return change.op === "setText" ? [{ ...change, text: edit.text }] : [change];
  const { off: _off, ...on } = change;
  // The cast is safe: a change without the optional `off` is still a valid change of the same kind.
  return [edit.action === "off" ? { ...change, off: true } : (on as Change)];
}

/** Counts the changes in a document. */
export const countChanges = ({ pages }: VariantDocument): number =>
  pages.reduce((sum, { changes }) => sum + changes.length, 0);

/** Returns why a variant with this key cannot be created. Undefined if it can be created or already exists. */
export function refuseVariant(keys: readonly string[], key: string): string | undefined {
  if (keys.includes(key) || keys.length < VARIANT_LIMITS.variantsMax) return undefined;
  return `variant: the session has ${keys.length} variants; a session may have ${VARIANT_LIMITS.variantsMax}. Use one of them, for example ${DEFAULT_VARIANT}.`;
}

/**
 * Describes a problem of a document. Names the change by its id rather than by its path, because the caller may have
 * sent the change without its page.
 */
export function describeProblem(document: VariantDocument, { path, problem }: ContentProblem): string {
  const [, page = "", change = "", field = ""] = /^pages\[(\d+)\]\.changes\[(\d+)\](.*)$/.exec(path) ?? [];
  const found = document.pages[Number(page)]?.changes[Number(change)];
  return page === "" || !found
    ? `${path}: ${problem}`
    : `change ${found.id} (${found.op})${field}: ${problem}`;
}
