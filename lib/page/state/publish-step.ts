import type { VariantView } from "./view-types.ts";

/** The state of a variant's newest revision, from which the person's next step follows. */
type PublishStep =
  /** The variant has a newer revision than the one that the person has seen. */
  | "outdated"
  /** The newest revision is published, and publishing it again would have no effect. */
  | "published"
  /** The check of the newest revision passed. */
  | "ready"
  | "unchecked"
  | "failed";

/**
 * Finds the state of a variant's newest revision. A revision that was published unchecked can be published again after
 * its check has passed, so that the new release counts as checked.
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
