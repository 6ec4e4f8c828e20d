import { z } from "zod";
import { publicationSchema } from "#lib/events/outcome-schemas.ts";
import { publicationId, sessionId, timestamp } from "#lib/events/wire-values.ts";
import { defineOperation, KEY_AUTH, type Operation } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";
import { listQuerySchema } from "../schemas/queries.ts";
import { releaseSchema, rollback, unpublish } from "./releases.ts";

/** A publication in the list of its owner's publications. */
const ownedPublicationSchema = z
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

const PUBLICATION = "/api/publications/:publicationId";

/** Operations on published variants, by the publication. Source: `wire.md`, Publications. */
export const publicationOperations = {
  listPublications: defineOperation({
    method: "GET",
    path: "/api/publications",
    summary: "List publications, newest first",
    description:
      "Lists the publications of the key's owner, including those of deleted sessions. An unpublished publication is listed until its session is deleted.",
    auth: KEY_AUTH,
    rate: "poll",
    query: listQuerySchema,
    answers: { 200: listOf(ownedPublicationSchema) },
  }),
  listPublicationReleases: defineOperation({
    method: "GET",
    path: `${PUBLICATION}/releases`,
    summary: "List the releases of a publication, newest first",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: listOf(releaseSchema) },
  }),
  rollbackPublication: defineOperation({
    ...rollback,
    path: `${PUBLICATION}/rollback`,
    summary: "Make another release of a publication the current one",
    description:
      "The same as the rollback of a variant, also for a publication whose session has been deleted.",
    auth: KEY_AUTH,
  }),
  unpublishPublication: defineOperation({
    ...unpublish,
    path: `${PUBLICATION}/unpublish`,
    summary: "Unpublish a publication",
    description: "The same as unpublishing a variant, also for a publication whose session has been deleted.",
    auth: KEY_AUTH,
  }),
  readScript: defineOperation({
    method: "GET",
    path: "/v/:script",
    summary: "Load a published script",
    description:
      "Public: no credentials, `Access-Control-Allow-Origin: *`. The script of the current release may be cached for 60 s, that of a single release for 300 s. If the publication is unpublished, its script is empty, and the scripts of its withdrawn releases return 410.",
    auth: { kind: "none" },
    errors: ["not_found", "gone"],
    answers: { 200: "stream", 304: "stream" },
    media: { 200: ["text/javascript"] },
    answerHeaders: { 200: ["ETag", "Cache-Control"], 304: ["ETag", "Cache-Control"] },
  }),
} as const satisfies Record<string, Operation>;
