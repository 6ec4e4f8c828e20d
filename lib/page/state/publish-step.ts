import { hasFailure, listUnaccepted } from "#lib/variant/check/conclude-check.ts";
import type { CheckReport, VariantView } from "./view-types.ts";

/** The state of a variant's newest revision, from which the person's next step follows. */
type PublishStep =
  /** The variant has a newer revision than the one that the person has seen. */
  | "outdated"
  /** The newest revision is published, and publishing it again would have no effect. */
  | "published"
  /** The check of the newest revision passed. */
  | "ready"
  | "unchecked"
  | "failed"
  /** Nothing failed, and the check could not examine changes that are not accepted. */
  | "unaccepted";

/**
 * Finds the state of a variant's newest revision. A revision that was published unchecked can be published again after
 * its check has passed, so that the new release counts as checked.
 *
 * @param seenRevision the newest revision that the person has seen. A newer revision must be seen before it can be
 * published.
 * @param report the report of the check. Null while it is loading; a check that did not pass then counts as failed.
 */
export function findPublishStep(
  { revision, check, publication }: VariantView,
  seenRevision: number,
  report: CheckReport | null,
): PublishStep {
  if (revision !== seenRevision) return "outdated";
  const isPassed = check !== null && check.status !== "fail";
  if (publication?.revision === revision && (!publication.isUnchecked || !isPassed)) return "published";
  if (isPassed) return "ready";
  if (check === null) return "unchecked";
  const isUnaccepted = report && !hasFailure(report.findings) && listUnaccepted(report).length > 0;
  return isUnaccepted ? "unaccepted" : "failed";
}
