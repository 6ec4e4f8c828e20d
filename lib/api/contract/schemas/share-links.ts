import { z } from "zod";
import { SHARE_ROLES } from "#db/schema/unions.ts";
import { nameUpTo } from "./fields.ts";
import { shareUrl } from "./values.ts";

const role = z.enum(SHARE_ROLES).meta({
  description:
    "`view` watches, `comment` watches and annotates, `drive` also messages the agent and controls the browser.",
  examples: ["comment"],
});

/** Body of `POST …/share-links`. */
export const createShareLinkSchema = z.strictObject({
  role,
  label: nameUpTo(100)
    .optional()
    .meta({
      description: "Whom or what the link is for; shown in the list only.",
      examples: ["Design review"],
    }),
  expiresAt: z.iso
    .datetime({ offset: true, error: "must be an ISO 8601 date and time with a zone" })
    .refine((text) => Date.parse(text) > Date.now(), { error: "must be in the future" })
    .refine((text) => new Date(text).getUTCFullYear() < 10_000, { error: "must be before the year 10000" })
    .optional()
    .meta({
      description: "ISO 8601. Omit for a link that does not expire.",
      examples: ["2126-12-01T00:00:00.000Z"],
    }),
});

/** A share link without its secret. */
export const shareLinkRecordSchema = z
  .object({
    id: z.string().meta({ description: "Names the link.", examples: ["lnk_k2m4zqvbwcnr7xye3hjpdtas"] }),
    role,
    label: z
      .string()
      .nullable()
      .meta({ examples: ["Design review"] }),
    createdAt: z.string().meta({ description: "ISO 8601, UTC.", examples: ["2026-11-20T09:30:00.000Z"] }),
    expiresAt: z
      .string()
      .nullable()
      .meta({ description: "ISO 8601, UTC; null if the link does not expire." }),
    revokedAt: z.string().nullable().meta({ description: "ISO 8601, UTC; null if the link is not revoked." }),
  })
  .meta({ id: "ShareLink", description: "A share link without its secret, of which only a hash is stored." });

const success = z.literal(true);

export const shareLinkCreatedSchema = z
  .object({
    success,
    shareUrl: shareUrl.meta({
      description:
        "The link with its secret, as a path of this service. This answer is the only one that has it.",
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
      .meta({ description: "Created links that this call revoked.", examples: [2] }),
    shareUrl: shareUrl.meta({ description: "The session's new `shareUrl`, as a path of this service." }),
  })
  .meta({ id: "SharesRevoked" });
