import type { Change, VariantDocument, VariantPage } from "../../document.ts";
import { type Candidate, findInterplay } from "./interplay.ts";
import type { Omission } from "./omission.ts";
import { findSelectorLimit } from "./selector.ts";

/**
 * A change converted to a format. If the format does not support the change, `limit` is the reason, phrased as a part
 * of a sentence.
 */
export type Carried<Item> = { items: Item[] } | { limit: string };

const IN_SHADOW = "its selector matches in a shadow root, as the check of the revision has found";

/** A page of a variant, with its changes converted to a format. */
export type CarriedPage<Item> = { page: VariantPage; items: Item[] };

/**
 * Converts the changes of a document to a format. Changes that are off are skipped, and are not listed in `omitted`.
 *
 * @param tool name of the tool to which the format belongs, for sentences
 * @param carry converts a single change, without considering the other changes
 * @param shadowed ids of the changes that are known to match in a shadow root
 */
export function carryChanges<Item>(
  document: VariantDocument,
  tool: string,
  carry: (change: Change, page: VariantPage) => Carried<Item>,
  shadowed: ReadonlySet<string>,
): { pages: CarriedPage<Item>[]; omitted: Omission[] } {
  const limits = new Map<Change, string>();
  const items = new Map<Change, Item[]>();
  let candidates: Candidate[] = [];
  for (const page of document.pages)
    for (const change of page.changes.filter(({ off }) => off !== true)) {
      const carried = shadowed.has(change.id) ? { limit: IN_SHADOW } : carryAlone(change, page, carry);
      if ("limit" in carried) limits.set(change, carried.limit);
      else {
        items.set(change, carried.items);
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

function carryAlone<Item>(
  change: Change,
  page: VariantPage,
  carry: (change: Change, page: VariantPage) => Carried<Item>,
): Carried<Item> {
  const limit =
    findSelectorLimit(change.selector) ??
    (change.op === "move" ? findSelectorLimit(change.target) : undefined);
  return limit === undefined ? carry(change, page) : { limit };
}
