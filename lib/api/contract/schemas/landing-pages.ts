import { z } from "zod";
import { landingPageSchema } from "#lib/events/event-schemas.ts";
import { sessionId, timestamp } from "#lib/events/wire-values.ts";

const success = z.literal(true);
/** Largest value of a Postgres `integer`. */
const INTEGER_MAX = 2_147_483_647;
const notVersion = { error: "must be the number of a version" };

/** Body of a rollback to another version. Source: `wire.md`, Landing pages. */
export const pageRollbackSchema = z.strictObject({
  version: z
    .int(notVersion)
    .min(1, notVersion)
    .max(INTEGER_MAX, notVersion)
    .meta({ description: "Number of the version to serve.", examples: [1] }),
});

/** A landing page, as the API shows it to its owner. */
export const ownedLandingPageSchema = landingPageSchema
  .extend({
    sessionId: sessionId.nullable().meta({
      description: "Id of the session that deployed the page last. Null after that session was deleted.",
    }),
    createdAt: timestamp,
  })
  .meta({ id: "OwnedLandingPage", description: "A landing page. Its session may have been deleted." });

export const readLandingPageSchema = z
  .object({ success, page: ownedLandingPageSchema })
  .meta({ id: "LandingPageRead" });

/** The response to a rollback and to unpublishing. */
export const landingPageChangedSchema = z
  .object({ success, page: landingPageSchema })
  .meta({ id: "LandingPageChanged", description: "A landing page after it was changed." });

export const landingPageVersionSchema = z
  .object({
    number: z
      .int()
      .min(1)
      .meta({ description: "Number of the version.", examples: [2] }),
    files: z.int().meta({ description: "Number of files.", examples: [4] }),
    bytes: z.int().meta({ description: "Total size of the files in bytes.", examples: [18_240] }),
    note: z
      .string()
      .nullable()
      .meta({
        description: "The agent's note about the version. Null if there is none.",
        examples: ["New headline"],
      }),
    isCurrent: z.boolean().meta({ description: "Whether this version is served." }),
    sessionId: sessionId.describe(
      "Id of the session that deployed the version. The session may have been deleted since.",
    ),
    createdAt: timestamp,
  })
  .meta({ id: "LandingPageVersion", description: "An immutable version of a landing page." });
