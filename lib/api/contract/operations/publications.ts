import { defineOperation, KEY_AUTH, MIB, type Operation, PUBLISHER_AUTH, READER_AUTH } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";
import { exportedSchema, exportQuerySchema, importedSchema, importSchema } from "../schemas/exports.ts";
import {
  acceptSchema,
  ownedPublicationSchema,
  publicationChangedSchema,
  publishedSchema,
  publishSchema,
  releaseSchema,
  rollbackSchema,
  variantAcceptedSchema,
} from "../schemas/publications.ts";
import { listQuerySchema } from "../schemas/queries.ts";

const VARIANT = "/api/sessions/:sessionId/variants/:variantKey";
const PUBLICATION = "/api/publications/:publicationId";

const write = { method: "POST", rate: "act", bodyBytesMax: 64 * 1024 } as const;
const rollback = {
  ...write,
  body: rollbackSchema,
  answers: { 200: publicationChangedSchema },
} as const;
const unpublish = { method: "POST", rate: "act", answers: { 200: publicationChangedSchema } } as const;

/** Operations on releases of variants, for programs and for the session page. Source: `wire.md`, Publications. */
export const publicationOperations = {
  acceptChanges: defineOperation({
    ...write,
    path: `${VARIANT}/accept`,
    summary: "Accept changes that a check could not examine",
    auth: PUBLISHER_AUTH,
    body: acceptSchema,
    errors: ["conflict"],
    answers: { 200: variantAcceptedSchema },
  }),
  publishVariant: defineOperation({
    ...write,
    path: `${VARIANT}/publish`,
    summary: "Publish the newest revision of a variant",
    auth: PUBLISHER_AUTH,
    body: publishSchema,
    errors: ["conflict"],
    answers: { 201: publishedSchema, 200: publishedSchema },
  }),
  rollbackVariant: defineOperation({
    ...rollback,
    path: `${VARIANT}/rollback`,
    summary: "Make another release of a variant the current one",
    auth: PUBLISHER_AUTH,
  }),
  unpublishVariant: defineOperation({
    ...unpublish,
    path: `${VARIANT}/unpublish`,
    summary: "Unpublish a variant",
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
  exportRevision: defineOperation({
    method: "GET",
    path: `${VARIANT}/revisions/:revision/export`,
    summary: "Export a revision",
    auth: READER_AUTH,
    rate: "poll",
    query: exportQuerySchema,
    answers: { 200: exportedSchema },
    media: { 200: ["text/javascript"] },
    answerHeaders: { 200: ["Content-Disposition"] },
  }),
  importVariant: defineOperation({
    method: "POST",
    path: `${VARIANT}/import`,
    summary: "Import a variant",
    auth: PUBLISHER_AUTH,
    rate: "act",
    body: importSchema,
    bodyBytesMax: 2 * MIB,
    errors: ["conflict"],
    answers: { 201: importedSchema },
  }),
  listPublications: defineOperation({
    method: "GET",
    path: "/api/publications",
    summary: "List publications, newest first",
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
    auth: KEY_AUTH,
  }),
  unpublishPublication: defineOperation({
    ...unpublish,
    path: `${PUBLICATION}/unpublish`,
    summary: "Unpublish a publication",
    auth: KEY_AUTH,
  }),
  readScript: defineOperation({
    method: "GET",
    path: "/v/:script",
    summary: "Load a published script",
    auth: { kind: "none" },
    errors: ["not_found", "gone"],
    answers: { 200: "stream", 304: "stream" },
    media: { 200: ["text/javascript"] },
    answerHeaders: { 200: ["ETag", "Cache-Control"], 304: ["ETag", "Cache-Control"] },
  }),
} as const satisfies Record<string, Operation>;
