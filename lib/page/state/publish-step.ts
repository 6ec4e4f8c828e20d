import type { VariantView } from "./view-types.ts";

/** The next step to publish the newest revision of a variant. */
type PublishStep =
  /** The variant has a newer revision than the one that the person looked at. */
  | "outdated"
  /** The newest revision is published, and its check has not passed since it was published unchecked. */
  | "published"
  /** The check of the newest revision passed. */
  | "ready"
  | "unchecked"
  | "failed";

/**
 * Decides what a person can do next. A revision that was published unchecked can be published again after its check
 * passed, which makes a checked release.
 *
 * @param seenRevision the revision that the person has seen; the person must see a newer one before it is published.
 */
export function findPublishStep(
  { revision, check, publication }: VariantView,
  seenRevision: number,
): PublishStep {
  if (revision !== seenRevision) return "outdated";
  const isPassed = check !== null && check.status !== "fail";
  if (publication?.revision === revision && (!publication.isUnchecked || !isPassed)) return "published";
  if (isPassed) return "ready";
  return check === null ? "unchecked" : "failed";
}
