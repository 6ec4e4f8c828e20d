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
    description: "Lists active, expired and revoked links, without their secrets.",
    auth: KEY_AUTH,
    rate: "poll",
    query: listQuerySchema,
    answers: { 200: listOf(shareLinkRecordSchema) },
  }),
  createShareLink: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/share-links",
    summary: "Create a share link",
    description:
      "The secret is random, stored only as a hash, and returned only once. The link opens the session page with the role of the link until the link expires or is revoked. A session can have at most 100 live links; a further one is refused with 409.",
    bodyExamples: {
      "A link for reviewers": {
        role: "comment",
        label: "Design review",
        expiresAt: "2126-12-01T00:00:00.000Z",
      },
    },
    auth: KEY_AUTH,
    rate: "create",
    ...shareLinkCreation,
  }),
  revokeAllShareLinks: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/share-links/revoke-all",
    summary: "Revoke every share link and the shareUrl",
    description:
      "Ends all share links, the `shareUrl` and the `liveViewUrl` of the session, with their cookies and open connections. Returns the new `shareUrl`.",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: sharesRevokedSchema },
  }),
  revokeShareLink: defineOperation({
    method: "DELETE",
    path: "/api/sessions/:sessionId/share-links/:linkId",
    summary: "Revoke a share link",
    description:
      "Ends the link, its cookies and its open connections within a second. Revoking it again changes nothing.",
    auth: KEY_AUTH,
    rate: "poll",
    answers: { 200: shareLinkRevokedSchema },
  }),
} as const satisfies Record<string, Operation>;
