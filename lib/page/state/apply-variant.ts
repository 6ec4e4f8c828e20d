import type { SessionState } from "./session-state.ts";
import type { DomainEvent, Publication, VariantRevision, VariantSummary, VariantView } from "./view-types.ts";

type EventOf<Kind extends DomainEvent["kind"]> = Extract<DomainEvent, { kind: Kind }>;

/** Applies an event about a variant or about the previews. */
export function applyVariantEvent(
  state: SessionState,
  event: EventOf<"variant.updated" | "preview.updated">,
): SessionState {
  if (event.kind === "preview.updated")
    return { ...state, previews: event.previews, previewChanges: state.previewChanges + 1 };
  return {
    ...state,
    variants: updateVariant(state.variants, event),
    variantChanges: state.variantChanges + 1,
  };
}

/** Applies an event about a variant. An event about an older revision only changes which variant is shown. */
function updateVariant(
  variants: VariantView[],
  { variant, changeCount, isShown }: EventOf<"variant.updated">,
): VariantView[] {
  const isOutdated = (variants.find(({ key }) => key === variant.key)?.revision ?? 0) > variant.revision;
  const merged = mergeVariant(variants, variant).map((each) =>
    each.key === variant.key && !isOutdated ? { ...each, changeCount } : each,
  );
  if (isShown) return markShown(merged, variant.key);
  return merged.map((each) => (each.key === variant.key ? { ...each, isShown } : each));
}

/**
 * Adds a variant, or updates its revision, check and publication. Changes nothing if the state contains a newer
 * revision.
 */
export function mergeVariant(
  variants: VariantView[],
  { key, revision, check, publication }: VariantSummary,
): VariantView[] {
  const index = variants.findIndex((each) => each.key === key);
  const existing = variants[index];
  if (!existing)
    return [...variants, { key, revision, check, publication, changeCount: null, isShown: false }];
  if (existing.revision > revision) return variants;
  const changeCount = existing.revision === revision ? existing.changeCount : null;
  return variants.with(index, { ...existing, revision, check, publication, changeCount });
}

/**
 * Sets the number of changes of a variant, and whether the live browser shows the variant. Changes nothing if the
 * number is already set, or if the state contains another revision of the variant.
 */
export const addRevisionFacts = (variants: VariantView[], read: VariantRevision): VariantView[] =>
  variants.map((each) =>
    each.key === read.variant && each.revision === read.revision && each.changeCount === null
      ? { ...each, changeCount: countChanges(read), isShown: read.isShown }
      : each,
  );

/** Sets the publication of a variant. Null means that the variant is not published. */
export const setPublication = (
  variants: VariantView[],
  key: string,
  publication: Publication | null,
): VariantView[] => variants.map((each) => (each.key === key ? { ...each, publication } : each));

/** Marks one variant as shown in the live browser, and all others as not shown. Null marks none. */
export const markShown = (variants: VariantView[], key: string | null): VariantView[] =>
  variants.map((each) => ({ ...each, isShown: each.key === key }));

const countChanges = ({ document }: VariantRevision): number =>
  document.pages.reduce((sum, { changes }) => sum + changes.length, 0);
