import { isDeepStrictEqual } from "node:util";
import type { VariantAuthor } from "#db/schema/unions.ts";
import type { Change, VariantDocument } from "./document.ts";

/** A change as it was before a person dropped it, switched it off or edited it. */
export type RejectedChange = { change: Change; how: "dropped" | "switched off" | "edited"; revision: number };

const REJECTED: Record<RejectedChange["how"], string> = {
  dropped: "dropped it",
  "switched off": "switched it off",
  edited: "replaced this content of it",
};

type AuthoredRevision = { number: number; author: VariantAuthor; document: VariantDocument };

/**
 * Lists the changes that people have rejected and not restored.
 *
 * @param revisions the revisions of people and their predecessors, the oldest first.
 */
export function listRejectedChanges(revisions: readonly AuthoredRevision[]): RejectedChange[] {
  let rejected: RejectedChange[] = [];
  for (const [index, { number, author, document }] of revisions.entries()) {
    const previous = revisions[index - 1];
    if (author !== "person" || previous?.number !== number - 1) continue;
    const old = byId(previous.document);
    const now = byId(document);
    for (const change of now.values())
      if (change.off !== true) rejected = rejected.filter((each) => !isAgain(change, change.id, each));
    for (const change of old.values()) {
      const edited = now.get(change.id);
      const how =
        edited === undefined
          ? "dropped"
          : edited.off === true && change.off !== true
            ? "switched off"
            : hasSameEffect(edited, change)
              ? undefined
              : "edited";
      if (how !== undefined) rejected.push({ change, how, revision: number });
    }
  }
  return rejected;
}

/**
 * Describes the new or altered changes of a document that a person has rejected, one per line.
 *
 * @param before the document of the newest stored revision.
 * @param givenIds the id that the caller has given to a change, by its id in `document`, if they differ.
 */
export function describeReturned(
  rejected: readonly RejectedChange[],
  before: VariantDocument,
  document: VariantDocument,
  givenIds: ReadonlyMap<string, string>,
): string[] {
  const old = byId(before);
  return [...byId(document).values()].flatMap((change) => {
    if (change.off === true || isDeepStrictEqual(old.get(change.id), change)) return [];
    const givenId = givenIds.get(change.id) ?? change.id;
    const found = rejected.findLast((each) => isAgain(change, givenId, each));
    if (!found) return [];
    const name = found.change.id === change.id ? "" : `, as ${found.change.id}`;
    return [`${change.id}: a person ${REJECTED[found.how]} in revision ${found.revision}${name}.`];
  });
}

/** Whether a change is a rejected change again. A person's edit rejects only the content that was there before. */
const isAgain = (change: Change, givenId: string, { change: old, how }: RejectedChange): boolean =>
  how === "edited"
    ? givenId === old.id && hasSameEffect(change, old)
    : givenId === old.id || hasSameEffect(change, old);

/** Whether two changes do the same to a page when they are on. */
function hasSameEffect(one: Change, other: Change): boolean {
  const effectOf = ({ id: _id, note: _note, late: _late, off: _off, ...effect }: Change) => effect;
  return isDeepStrictEqual(effectOf(one), effectOf(other));
}

const byId = ({ pages }: VariantDocument): Map<string, Change> =>
  new Map(pages.flatMap(({ changes }) => changes).map((change) => [change.id, change]));
