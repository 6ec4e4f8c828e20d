import { z } from "zod";
import { landingPageSchema } from "#lib/events/outcome-schemas.ts";
import { sessionId, timestamp } from "#lib/events/wire-values.ts";
import {
  DRIVER_AUTH,
  defineOperation,
  KEY_AUTH,
  type Operation,
  READER_AUTH,
  VISITOR_AUTH,
} from "../operation.ts";
import { listOf, success } from "../schemas/answers.ts";
import { listQuerySchema } from "../schemas/queries.ts";

/** Largest value of a Postgres `integer`. */
const INTEGER_MAX = 2_147_483_647;

const notVersion = { error: "must be the number of a version" };

/** Body of a rollback to another version. Source: `wire.md`, Landing pages. */
const pageRollbackSchema = z.strictObject({
  version: z
    .int(notVersion)
    .min(1, notVersion)
    .max(INTEGER_MAX, notVersion)
    .meta({ description: "Number of the version to serve.", examples: [1] }),
});

/** A landing page, as the API shows it to its owner. */
const ownedLandingPageSchema = landingPageSchema
  .extend({
    sessionId: sessionId.nullable().meta({
      description: "Id of the session that deployed the page last. Null after that session was deleted.",
    }),
    createdAt: timestamp,
  })
  .meta({ id: "OwnedLandingPage", description: "A landing page. Its session may have been deleted." });

const readLandingPageSchema = z
  .object({ success, page: ownedLandingPageSchema })
  .meta({ id: "LandingPageRead" });

/** The response to a rollback and to unpublishing. */
const landingPageChangedSchema = z
  .object({ success, page: landingPageSchema })
  .meta({ id: "LandingPageChanged", description: "A landing page after it was changed." });

const landingPageVersionSchema = z
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

const PAGE = "/api/pages/:slug";

const PERSON_PAGE = "/s/:sessionId/actions/pages/:slug";

const versions = {
  method: "GET",
  summary: "List the versions of a landing page, newest first",
  rate: "poll",
  answers: { 200: listOf(landingPageVersionSchema) },
} as const;

const rollback = {
  method: "POST",
  summary: "Serve another version of a landing page",
  rate: "act",
  body: pageRollbackSchema,
  bodyBytesMax: 64 * 1024,
  answers: { 200: landingPageChangedSchema },
} as const;

const unpublish = {
  method: "POST",
  summary: "Unpublish a landing page",
  rate: "act",
  answers: { 200: landingPageChangedSchema },
} as const;

/** Operations on landing pages, for programs and for the session page. Source: `wire.md`, Landing pages. */
export const landingPageOperations = {
  listLandingPages: defineOperation({
    method: "GET",
    path: "/api/pages",
    summary: "List landing pages, newest first",
    description:
      "Lists the landing pages of the key's owner, including those of deleted sessions. An unpublished page is listed until its session is deleted.",
    auth: KEY_AUTH,
    rate: "poll",
    query: listQuerySchema,
    answers: { 200: listOf(ownedLandingPageSchema) },
  }),
  readLandingPage: defineOperation({
    method: "GET",
    path: PAGE,
    summary: "Read a landing page",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: readLandingPageSchema },
  }),
  listPageVersions: defineOperation({ ...versions, path: `${PAGE}/versions`, auth: KEY_AUTH }),
  rollbackPage: defineOperation({
    ...rollback,
    path: `${PAGE}/rollback`,
    description:
      "Serves the given version of the page. The change takes effect within a second in every process. A rollback also publishes an unpublished page again.",
    auth: KEY_AUTH,
  }),
  unpublishPage: defineOperation({
    ...unpublish,
    path: `${PAGE}/unpublish`,
    description:
      "Within a second, every URL of the page returns 410 in every process. The slug stays reserved. A rollback or a new deploy publishes the page again. Idempotent.",
    auth: KEY_AUTH,
  }),
  listSessionPages: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/pages",
    summary: "List the landing pages of a session",
    description:
      "Lists the pages whose newest version the session deployed, oldest first. For a sub-agent, lists the pages of its root session.",
    auth: READER_AUTH,
    rate: "poll",
    answers: { 200: listOf(landingPageSchema) },
  }),
  listPersonPageVersions: defineOperation({
    ...versions,
    path: `${PERSON_PAGE}/versions`,
    auth: VISITOR_AUTH,
  }),
  rollbackPersonPage: defineOperation({
    ...rollback,
    path: `${PERSON_PAGE}/rollback`,
    auth: DRIVER_AUTH,
    requiresJsonType: true,
  }),
  unpublishPersonPage: defineOperation({
    ...unpublish,
    path: `${PERSON_PAGE}/unpublish`,
    auth: DRIVER_AUTH,
  }),
} as const satisfies Record<string, Operation>;
