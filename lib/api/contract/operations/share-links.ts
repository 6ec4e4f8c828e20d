import { z } from "zod";
import { SHARE_ROLES } from "#db/schema/unions.ts";
import { shareUrl } from "#lib/events/wire-values.ts";
import { isOrigin } from "#lib/text/http-url.ts";
import { defineOperation, KEY_AUTH, type Operation } from "../operation.ts";
import { listOf, success } from "../schemas/answers.ts";
import { nameUpTo } from "../schemas/fields.ts";
import { listQuerySchema } from "../schemas/queries.ts";

const role = z.enum(SHARE_ROLES).meta({
  description:
    "`view` can watch, `comment` can also annotate, and `drive` can also message the agent and control the browser.",
  examples: ["comment"],
});

/** How many origins one link can name. */
const EMBED_ORIGINS_MAX = 10;

/** Body of `POST …/share-links`. */
const createShareLinkSchema = z.strictObject({
  role,
  label: nameUpTo(100)
    .optional()
    .meta({
      description: "Label that lists show, for example the name of the recipient.",
      examples: ["Design review"],
    }),
  embedOrigins: z
    .array(z.string().max(300).refine(isOrigin, { error: "must be an origin, such as https://app.example" }))
    .min(1)
    .max(EMBED_ORIGINS_MAX, { error: `must hold at most ${EMBED_ORIGINS_MAX} origins` })
    .optional()
    .meta({
      description:
        "Origins whose pages may show the link in a frame, each one of the service's `EMBED_ORIGINS`. Default: all of `EMBED_ORIGINS`.",
      examples: [["https://app.example"]],
    }),
  expiresAt: z.iso
    .datetime({ offset: true, error: "must be an ISO 8601 date and time with a zone" })
    .refine((text) => Date.parse(text) > Date.now(), { error: "must be in the future" })
    .refine((text) => new Date(text).getUTCFullYear() < 10_000, { error: "must be before the year 10000" })
    .optional()
    .meta({
      description: "When the link expires. ISO 8601 with a time zone. Omit for a link that never expires.",
      examples: ["2126-12-01T00:00:00.000Z"],
    }),
});

/** A share link without its secret. */
const shareLinkRecordSchema = z
  .object({
    id: z.string().meta({ description: "Id of the link.", examples: ["lnk_k2m4zqvbwcnr7xye3hjpdtas"] }),
    role,
    label: z
      .string()
      .nullable()
      .meta({ examples: ["Design review"] }),
    embedOrigins: z
      .array(z.string())
      .nullable()
      .meta({
        description:
          "Origins whose pages may show the link in a frame. Null for all of the service's `EMBED_ORIGINS`.",
        examples: [["https://app.example"]],
      }),
    createdAt: z
      .string()
      .meta({ description: "Time in ISO 8601 format, UTC.", examples: ["2026-11-20T09:30:00.000Z"] }),
    expiresAt: z
      .string()
      .nullable()
      .meta({ description: "When the link expires. ISO 8601, UTC. Null if it never expires." }),
    revokedAt: z
      .string()
      .nullable()
      .meta({ description: "When the link was revoked. ISO 8601, UTC. Null if it is not revoked." }),
  })
  .meta({
    id: "ShareLink",
    description: "A share link without its secret. Only a hash of the secret is stored.",
  });

/** The share links of a session, for the holder of the session's own `shareUrl`. */
export const ownShareLinksSchema = listOf(shareLinkRecordSchema)
  .extend({
    shareUrl: shareUrl.meta({ description: "Path of the session's own share link, which is not in `data`." }),
  })
  .meta({ id: "OwnShareLinks" });

const shareLinkCreatedSchema = z
  .object({
    success,
    shareUrl: shareUrl.meta({
      description: "Path of the link, including its secret. The secret is returned only once.",
    }),
    record: shareLinkRecordSchema,
  })
  .meta({ id: "ShareLinkCreated" });

export const shareLinkRevokedSchema = z
  .object({ success, record: shareLinkRecordSchema })
  .meta({ id: "ShareLinkRevoked" });

export const sharesRevokedSchema = z
  .object({
    success,
    revoked: z
      .int()
      .min(0)
      .meta({ description: "Number of links that this call revoked.", examples: [2] }),
    shareUrl: shareUrl.meta({
      description: "Path of the session's new own share link, which replaces the earlier `shareUrl`.",
    }),
  })
  .meta({ id: "SharesRevoked" });

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
