import { createHash } from "node:crypto";
import type { CheckStatus } from "#db/schema/unions.ts";
import type { Publication } from "#lib/events/event.ts";
import type { ReleaseRow } from "./publication-store.ts";
import { scriptUrls } from "./script-address.ts";

/** Computes the hash of a script for Subresource Integrity: `sha384-` and the digest in base64. */
export const computeIntegrity = (script: string): string =>
  `sha384-${createHash("sha384").update(script).digest("base64")}`;

/**
 * Whether a revision with this check status may be published without explicit consent: its check passed, or found
 * nothing worse than warnings.
 */
export const isPassed = (status: CheckStatus | null | undefined): boolean =>
  status === "pass" || status === "warn";

/** Converts a release to the shape in which the API shows the publication of a variant. */
export const toPublication = (
  baseUrl: string,
  { publicationId, id, number, revision, isUnchecked, integrity }: ReleaseFacts,
): Publication => ({
  id: publicationId,
  release: id,
  number,
  revision,
  isUnchecked,
  ...scriptUrls(baseUrl, publicationId, number),
  integrity,
});

type ReleaseFacts = Pick<
  ReleaseRow,
  "publicationId" | "id" | "number" | "revision" | "isUnchecked" | "integrity"
>;
