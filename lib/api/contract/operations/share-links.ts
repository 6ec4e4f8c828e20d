import { defineOperation, KEY_AUTH, type Operation } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";
import { listQuerySchema } from "../schemas/queries.ts";
import {
  createShareLinkSchema,
  shareLinkCreatedSchema,
  shareLinkRecordSchema,
  shareLinkRevokedSchema,
  sharesRevokedSchema,
} from "../schemas/share-links.ts";

/** The common fields of the two operations that create a share link, in the API and on the session page. */
export const shareLinkCreation = {
  body: createShareLinkSchema,
  bodyBytesMax: 64 * 1024,
  errors: ["conflict"],
  answers: { 201: shareLinkCreatedSchema },
} as const;

export const shareLinkOperations = {
  listShareLinks: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/share-links",
    summary: "List share links, newest first",
    auth: KEY_AUTH,
    rate: "poll",
    query: listQuerySchema,
    answers: { 200: listOf(shareLinkRecordSchema) },
  }),
  createShareLink: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/share-links",
    summary: "Create a share link",
    auth: KEY_AUTH,
    rate: "create",
    ...shareLinkCreation,
  }),
  revokeAllShareLinks: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/share-links/revoke-all",
    summary: "Revoke every share link and the shareUrl",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: sharesRevokedSchema },
  }),
  revokeShareLink: defineOperation({
    method: "DELETE",
    path: "/api/sessions/:sessionId/share-links/:linkId",
    summary: "Revoke a share link",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: shareLinkRevokedSchema },
  }),
} as const satisfies Record<string, Operation>;
