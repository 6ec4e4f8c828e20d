import { createHash } from "node:crypto";
import type { CheckStatus } from "#db/schema/unions.ts";
import type { Publication } from "#lib/events/event.ts";
import type { ReleaseRow } from "./publication-store.ts";
import { scriptUrls } from "./script-address.ts";

/** Computes the hash of a script for Subresource Integrity, such as `sha384-…` with base64. */
export const computeIntegrity = (script: string): string =>
  `sha384-${createHash("sha384").update(script).digest("base64")}`;

/** Whether a revision with this check status may be published without explicit consent. Warnings do not prevent that. */
export const isPassed = (status: CheckStatus | null | undefined): boolean =>
  status === "pass" || status === "warn";

/** Converts a release to the form in which the API shows a variant's publication. */
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
