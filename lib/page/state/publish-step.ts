import type { VariantView } from "./view-types.ts";

/** The next step to publish the newest revision of a variant. */
type PublishStep =
  /** The variant has a newer revision than the one that the person has seen. */
  | "outdated"
  /** The newest revision is published. If it was published unchecked, its check has not passed since then. */
  | "published"
  /** The check of the newest revision passed. */
  | "ready"
  | "unchecked"
  | "failed";

/**
 * Finds the next step that a person can take. A revision that was published unchecked can be published again once its check
 * has passed; the new release then counts as checked.
 *
 * @param seenRevision the newest revision that the person has seen. A newer revision must be seen before it can be
 * published.
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
