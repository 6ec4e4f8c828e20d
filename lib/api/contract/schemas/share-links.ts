import { z } from "zod";
import { SHARE_ROLES } from "#db/schema/unions.ts";
import { shareUrl } from "#lib/events/wire-values.ts";
import { listOf } from "./answers.ts";
import { nameUpTo } from "./fields.ts";

const role = z.enum(SHARE_ROLES).meta({
  description:
    "`view` can watch, `comment` can also annotate, and `drive` can also message the agent and control the browser.",
  examples: ["comment"],
});

/** Body of `POST …/share-links`. */
export const createShareLinkSchema = z.strictObject({
  role,
  label: nameUpTo(100)
    .optional()
    .meta({
      description: "Label that lists show, for example the name of the recipient.",
      examples: ["Design review"],
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
export const shareLinkRecordSchema = z
  .object({
    id: z.string().meta({ description: "Id of the link.", examples: ["lnk_k2m4zqvbwcnr7xye3hjpdtas"] }),
    role,
    label: z
      .string()
      .nullable()
      .meta({ examples: ["Design review"] }),
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

const success = z.literal(true);

/** The share links of a session, for the holder of the session's own `shareUrl`. */
export const ownShareLinksSchema = listOf(shareLinkRecordSchema)
  .extend({
    shareUrl: shareUrl.meta({ description: "Path of the session's own share link, which is not in `data`." }),
  })
  .meta({ id: "OwnShareLinks" });

export const shareLinkCreatedSchema = z
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
