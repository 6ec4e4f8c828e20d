import type { Change, VariantDocument, VariantPage } from "../../document.ts";
import { type Candidate, findInterplay } from "./interplay.ts";
import type { Omission } from "./omission.ts";
import { findSelectorLimit } from "./selector.ts";

/**
 * A change converted to a format. If the format does not support the change, `limit` is the reason, phrased as a part
 * of a sentence.
 */
export type Converted<Item> = { items: Item[] } | { limit: string };

const IN_SHADOW = "its selector matches in a shadow root, as the check of the revision has found";

/** A page of a variant, with its changes converted to a format. */
export type ConvertedPage<Item> = { page: VariantPage; items: Item[] };

/**
 * Converts the changes of a document to a format. Changes that are off are skipped, and are not listed in `omitted`.
 *
 * @param tool name of the tool to which the format belongs, for sentences
 * @param convert converts a single change, without considering the other changes
 * @param shadowed ids of the changes that are known to match in a shadow root
 */
export function convertChanges<Item>(
  document: VariantDocument,
  tool: string,
  convert: (change: Change, page: VariantPage) => Converted<Item>,
  shadowed: ReadonlySet<string>,
): { pages: ConvertedPage<Item>[]; omitted: Omission[] } {
  const limits = new Map<Change, string>();
  const items = new Map<Change, Item[]>();
  let candidates: Candidate[] = [];
  for (const page of document.pages)
    for (const change of page.changes.filter(({ off }) => off !== true)) {
      const converted = shadowed.has(change.id) ? { limit: IN_SHADOW } : convertOne(change, page, convert);
      if ("limit" in converted) limits.set(change, converted.limit);
      else {
        items.set(change, converted.items);
        candidates.push({ page, change });
      }
    }
  for (const candidate of candidates) {
    const limit = findInterplay(candidate, candidates);
    if (limit === undefined) continue;
    limits.set(candidate.change, `${limit}, and ${tool} applies one change after the other`);
    candidates = candidates.filter((each) => each !== candidate);
  }
  return {
    pages: document.pages.map((page) => ({
      page,
      items: page.changes.flatMap((change) => (limits.has(change) ? [] : (items.get(change) ?? []))),
    })),
    omitted: document.pages.flatMap(({ url, changes }) =>
      changes.flatMap((change) => {
        const limit = limits.get(change);
        const reason = `${tool} cannot carry change ${change.id} (${change.op}): ${limit}.`;
        return limit === undefined ? [] : [{ changeId: change.id, url, reason }];
      }),
    ),
  };
}

function convertOne<Item>(
  change: Change,
  page: VariantPage,
  convert: (change: Change, page: VariantPage) => Converted<Item>,
): Converted<Item> {
  const limit =
    findSelectorLimit(change.selector) ??
    (change.op === "move" ? findSelectorLimit(change.target) : undefined);
  return limit === undefined ? convert(change, page) : { limit };
}
