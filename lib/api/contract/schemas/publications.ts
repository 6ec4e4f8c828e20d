import { z } from "zod";
import { CHECK_STATUSES, VARIANT_AUTHORS } from "#db/schema/unions.ts";
import { publicationSchema, variantSummarySchema } from "#lib/events/event-schemas.ts";
import { publicationId, releaseId, sessionId, timestamp } from "#lib/events/wire-values.ts";
import { changeIdSchema, VARIANT_LIMITS } from "#lib/variant/document.ts";

const success = z.literal(true);
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
export const acceptSchema = z.strictObject({
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
export const variantAcceptedSchema = z
  .object({ success, variant: variantSummarySchema })
  .meta({ id: "VariantAccepted", description: "A variant after changes were accepted." });

/** Body of the publication of a variant. Source: `wire.md`, Publications. */
export const publishSchema = z.strictObject({
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

export const rollbackSchema = z.strictObject({
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
export const publishedSchema = z
  .object({ success, publication: publicationSchema, variant: variantSummarySchema })
  .meta({ id: "Published", description: "The publication with its new release." });

/** The response to a rollback and to unpublishing. */
export const publicationChangedSchema = z
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

/** A publication in the list of its owner's publications. */
export const ownedPublicationSchema = z
  .object({
    id: publicationId,
    sessionId: sessionId
      .nullable()
      .meta({ description: "Id of the session. Null after the session was deleted." }),
    variant: z.string().meta({ description: "Key of the variant.", examples: ["main"] }),
    publication: publicationSchema
      .nullable()
      .meta({ description: "The current release. Null if nothing is published." }),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({
    id: "OwnedPublication",
    description:
      "A publication in the list of its owner. If it is currently unpublished, `publication` is null. If its session has been deleted, `sessionId` is null.",
  });
