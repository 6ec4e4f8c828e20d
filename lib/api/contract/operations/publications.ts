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
  exportRevision: defineOperation({
    method: "GET",
    path: `${VARIANT}/revisions/:revision/export`,
    summary: "Export a revision",
    description:
      "Exports a revision of a variant. With `format=script`, the response is a JavaScript file; otherwise it is JSON with the revision in `document`, and `omitted` lists the parts that the format cannot represent.",
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
    description:
      "Stores the imported document as a new revision on behalf of a person. The revision replaces the content of the variant; if the variant does not exist, the import creates it. Returns 409 if `baseRevision` is not the newest revision. If no part of the document can be imported, returns 400 and changes nothing.",
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
