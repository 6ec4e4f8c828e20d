import { createHash } from "node:crypto";
import type { CheckStatus } from "#db/schema/unions.ts";
import type { Publication } from "#lib/events/event.ts";
import type { ReleaseRow } from "./publication-store.ts";
import { scriptUrls } from "./script-address.ts";

/** The hash of a script for Subresource Integrity: `sha384-` and base64. */
export const computeIntegrity = (script: string): string =>
  `sha384-${createHash("sha384").update(script).digest("base64")}`;

/** Whether a check allows a release without a person's explicit consent. Warnings do not prevent it. */
export const isPassed = (status: CheckStatus | null | undefined): boolean =>
  status === "pass" || status === "warn";

/** A release as the API shows a variant's publication. */
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
