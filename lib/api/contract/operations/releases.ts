import { z } from "zod";
import { CHECK_STATUSES, VARIANT_AUTHORS } from "#db/schema/unions.ts";
import { publicationSchema, variantSummarySchema } from "#lib/events/outcome-schemas.ts";
import { releaseId, timestamp } from "#lib/events/wire-values.ts";
import { changeIdSchema, VARIANT_LIMITS } from "#lib/variant/document.ts";
import { defineOperation, type Operation, PUBLISHER_AUTH, READER_AUTH } from "../operation.ts";
import { listOf, success } from "../schemas/answers.ts";

/** Largest value of a Postgres `integer`. */
const INTEGER_MAX = 2_147_483_647;

const notRelease = { error: "must be the number or the id of a release" };

const revision = z
  .int()
  .min(1)
  .meta({ description: "Number of the revision.", examples: [3] });

const releaseNumber = z
  .int()
  .min(1)
  .meta({ description: "Number of the release.", examples: [2] });

/** Body of the acceptance of changes. Source: `wire.md`, Variants. */
const acceptSchema = z.strictObject({
  revision: z
    .int({ error: "must be a whole number" })
    .min(1, { error: "must be at least 1" })
    .meta({
      description: "Number of the newest revision. Any other number is refused with 409.",
      examples: [3],
    }),
  checkedAt: timestamp.meta({
    description:
      "`at` of the check that lists the changes. If the revision was checked again since, the response is 409.",
  }),
  changes: z
    .array(changeIdSchema)
    .min(1, { error: "must name a change" })
    .max(VARIANT_LIMITS.changesMax, { error: `must name at most ${VARIANT_LIMITS.changesMax} changes` })
    .meta({
      description: "Ids of changes with the outcome `not_examined`.",
      examples: [["c1", "c4"]],
    }),
});

/** The response to the acceptance of changes. */
const variantAcceptedSchema = z
  .object({ success, variant: variantSummarySchema })
  .meta({ id: "VariantAccepted", description: "A variant after changes were accepted." });

/** Body of the publication of a variant. Source: `wire.md`, Publications. */
const publishSchema = z.strictObject({
  revision: z
    .int({ error: "must be a whole number" })
    .min(1, { error: "must be at least 1" })
    .optional()
    .meta({
      description:
        "Number of the revision to publish. It must be the newest revision; any other number is refused with 409. Omit to publish the newest revision, whatever its number.",
      examples: [3],
    }),
  unchecked: z
    .boolean()
    .optional()
    .meta({
      description:
        "`true` also publishes a revision whose newest check has not passed, or lists changes that were not examined and are not accepted. The release is then permanently marked as unchecked.",
      examples: [false],
    }),
});

const rollbackSchema = z.strictObject({
  release: z
    .union(
      [
        z.int(notRelease).min(1, notRelease).max(INTEGER_MAX, notRelease),
        z.string(notRelease).regex(/^rel_[a-z2-7]{24}$/, notRelease),
      ],
      notRelease,
    )
    .meta({
      description: "Number or id of the release that becomes the current one.",
      examples: [1],
    }),
});

/** The response to publishing a release. */
const publishedSchema = z
  .object({ success, publication: publicationSchema, variant: variantSummarySchema })
  .meta({ id: "Published", description: "The publication with its new release." });

/** The response to a rollback and to unpublishing. */
const publicationChangedSchema = z
  .object({
    success,
    publication: publicationSchema
      .nullable()
      .meta({ description: "The current release. Null if nothing is published." }),
  })
  .meta({ id: "PublicationChanged", description: "A publication after it was changed." });

export const releaseSchema = z
  .object({
    id: releaseId,
    number: releaseNumber,
    revision,
    author: z.enum(VARIANT_AUTHORS).meta({ description: "Who published the release." }),
    check: z
      .object({ status: z.enum(CHECK_STATUSES), at: timestamp })
      .nullable()
      .meta({
        description:
          "Newest check of the revision when the release was published. Null if the revision had not been checked.",
      }),
    isUnchecked: z
      .boolean()
      .meta({ description: "Whether the release was published without a passed check." }),
    isCurrent: z.boolean().meta({ description: "Whether this is the current release." }),
    isUnpublished: z.boolean().meta({
      description: "Whether unpublishing withdrew the script of this release, so that it returns 410.",
    }),
    pinnedScriptUrl: z.string().meta({ description: "URL of the release's script, which never changes." }),
    integrity: z.string().meta({ description: "Subresource Integrity of the release's script." }),
    createdAt: timestamp,
  })
  .meta({ id: "Release", description: "An immutable release of a variant." });

export const VARIANT = "/api/sessions/:sessionId/variants/:variantKey";

const write = { method: "POST", rate: "act", bodyBytesMax: 64 * 1024 } as const;

export const rollback = {
  ...write,
  body: rollbackSchema,
  answers: { 200: publicationChangedSchema },
} as const;

export const unpublish = { method: "POST", rate: "act", answers: { 200: publicationChangedSchema } } as const;

/** Operations on releases of variants, for programs and for the session page. Source: `wire.md`, Publications. */
export const releaseOperations = {
  acceptChanges: defineOperation({
    ...write,
    path: `${VARIANT}/accept`,
    summary: "Accept changes that a check could not examine",
    description:
      "Accepts that the newest check could not examine these changes, for example because they are in a closed menu. A check passes (`warn`) only if nothing failed and each change with the outcome `not_examined` is accepted. The agent cannot accept for itself. An acceptance holds for later checks and revisions, as long as the change has the same content and is not examined in the same places for the same reasons. Accepting a change again has no effect. The response is 400 if the check has no such change, and 409 if the change was proved or has failed, if the revision is not the newest, if it was not checked, or if it was checked again since `checkedAt`. The session page calls this operation with a share cookie of the role `drive`.",
    auth: PUBLISHER_AUTH,
    body: acceptSchema,
    errors: ["conflict"],
    answers: { 200: variantAcceptedSchema },
  }),
  publishVariant: defineOperation({
    ...write,
    path: `${VARIANT}/publish`,
    summary: "Publish the newest revision of a variant",
    description:
      "Makes an immutable release of the newest revision. Pages that load the publication's script get the release within a minute. The newest check of the revision must have passed (`pass` or `warn`), otherwise the response is 409; `unchecked: true` publishes without a passed check. If the current release already has this revision, the response is 200 and no new release is made. Exception: if that release is unchecked and the revision has passed a check since, a new release is made. A variant can have at most 500 releases. The session page calls this operation with a share cookie of the role `drive`.",
    bodyExamples: { "The newest revision": {}, "Without a check": { revision: 3, unchecked: true } },
    auth: PUBLISHER_AUTH,
    body: publishSchema,
    errors: ["conflict"],
    answers: { 201: publishedSchema, 200: publishedSchema },
  }),
  rollbackVariant: defineOperation({
    ...rollback,
    path: `${VARIANT}/rollback`,
    summary: "Make another release of a variant the current one",
    description:
      "Makes the given release the current one. Pages that load the publication's script get the release within a minute. The release may have been unpublished or be unchecked; `unchecked` is not required again.",
    auth: PUBLISHER_AUTH,
  }),
  unpublishVariant: defineOperation({
    ...unpublish,
    path: `${VARIANT}/unpublish`,
    summary: "Unpublish a variant",
    description:
      "The publication's script becomes empty, so that pages that load it continue to work without errors. The scripts of single releases return 410, even after a new release, until a rollback to them. Idempotent.",
    auth: PUBLISHER_AUTH,
  }),
  listReleases: defineOperation({
    method: "GET",
    path: `${VARIANT}/releases`,
    summary: "List the releases of a variant, newest first",
    auth: READER_AUTH,
    rate: "poll",
    answers: { 200: listOf(releaseSchema) },
  }),
} as const satisfies Record<string, Operation>;
