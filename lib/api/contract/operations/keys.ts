import { z } from "zod";
import { KEY_SCOPES } from "#lib/keys/key-scopes.ts";
import { defineOperation, type Operation } from "../operation.ts";
import { listOf, success } from "../schemas/answers.ts";
import { nameUpTo } from "../schemas/fields.ts";

const YEARS_MAX = 100;

const HOURS_MAX = 24 * 365;

/** An owner contains neither `=` nor a comma, because the settings list keys as `owner=key`, separated by commas. */
const owner = nameUpTo(200).regex(/^[^\s,=\p{C}]+$/u, {
  error: "must not contain spaces, controls, commas or equals signs",
});

const scopeList = z
  .array(z.enum(KEY_SCOPES))
  .min(1, { error: `must name at least one of ${KEY_SCOPES.join(", ")}` })
  .transform((scopes) => KEY_SCOPES.filter((scope) => scopes.includes(scope)));

/** Body of `POST /actions/keys`. */
const createKeySchema = z.strictObject({
  ownerId: owner.meta({ description: "Owner whose sessions the key can access.", examples: ["acme"] }),
  name: nameUpTo(200).meta({
    description: "Name that describes the purpose of the key.",
    examples: ["nightly checks"],
  }),
  scopes: scopeList
    .optional()
    .meta({ description: "Scopes of the key. Omit for all scopes.", examples: [["sessions:read"]] }),
  expiresInDays: z
    .number()
    .positive({ error: "must be more than 0" })
    .max(365 * YEARS_MAX, { error: `must be at most ${YEARS_MAX} years` })
    .optional()
    .meta({ description: "Days until the key expires. Omit for a key that never expires.", examples: [90] }),
});

/** Body of `PATCH /actions/keys/:keyId`. */
const updateKeySchema = z.strictObject({
  scopes: scopeList.meta({
    description: "The new scopes of the key. They replace the previous ones.",
    examples: [["sessions:read"]],
  }),
});

/** Body of `POST /actions/keys/:keyId/rotate`. */
const rotateKeySchema = z.strictObject({
  overlapHours: z
    .number()
    .min(0, { error: "must be 0 or more" })
    .max(HOURS_MAX, { error: "must be at most a year" })
    .optional()
    .meta({ default: 24, description: "Hours for which the old key stays valid.", examples: [24] }),
});

const instant = (description: string) => z.string().nullable().meta({ description });

const keyRecordSchema = z
  .object({
    id: z.string().meta({ examples: ["3f9c1a7be2d04856"] }),
    ownerId: z.string().meta({ examples: ["acme"] }),
    name: z.string().meta({ examples: ["nightly checks"] }),
    scopes: z.array(z.string()).meta({ examples: [["sessions:read"]] }),
    createdAt: z
      .string()
      .meta({ description: "Time in ISO 8601 format, UTC.", examples: ["2026-11-20T09:30:00.000Z"] }),
    lastUsedAt: instant(
      "Time of the last use, accurate to the minute. ISO 8601, UTC. Null if the key has not been used.",
    ),
    expiresAt: instant("When the key expires. ISO 8601, UTC. Null if it does not expire."),
    revokedAt: instant("When the key was revoked. ISO 8601, UTC. Null if it is not revoked."),
  })
  .meta({ id: "ApiKey", description: "An API key without its secret. Only a hash of the secret is stored." });

const key = z.string().meta({
  description: "The API key. It is returned only once.",
  examples: ["ask_3f9c1a7be2d04856_Zm9yIHRoZSByZWZlcmVuY2UgcGFnZSBhbG9uZSwgbm8ga2V5"],
});

const keyCreatedSchema = z.object({ success, key, record: keyRecordSchema }).meta({ id: "KeyCreated" });

const keyRevokedSchema = z.object({ success, record: keyRecordSchema }).meta({ id: "KeyRevoked" });

const keyUpdatedSchema = z.object({ success, record: keyRecordSchema }).meta({ id: "KeyUpdated" });

const keyRotatedSchema = z
  .object({ success, key, record: keyRecordSchema, old: keyRecordSchema })
  .meta({ id: "KeyRotated", description: "The new key, and the old key with its new expiry." });

/** Query of the list of keys: `?owner=` selects the keys of one owner. */
const keyListQuerySchema = z.object({
  owner: owner.optional().meta({ description: "Lists only the keys of this owner.", examples: ["acme"] }),
});

/** Body of `POST /actions/encryption/rotate`. */
const rotateEncryptionSchema = z.strictObject({
  cursor: z
    .string()
    .max(400, { error: "must be at most 400 characters" })
    .optional()
    .meta({
      description: "`nextCursor` of the previous call. Omit for the first call.",
      examples: ["secrets//"],
    }),
});

const counted = (description: string, example: number) => z.int().meta({ description, examples: [example] });

const encryptionRotatedSchema = z
  .object({
    success,
    resealed: counted("Number of values that this call has encrypted with the current key.", 200),
    unreadable: counted(
      "Number of values that this call could not decrypt, because the key that they are encrypted with is not configured.",
      0,
    ),
    remaining: counted("Number of values in the database that are not encrypted with the current key.", 0),
    nextCursor: z
      .string()
      .nullable()
      .meta({
        description:
          "Send it as `cursor` with the next call. Null when all values have been processed: only unreadable values may then remain.",
        examples: [null],
      }),
  })
  .meta({ id: "EncryptionRotated" });

export const keyOperations = {
  listKeys: defineOperation({
    method: "GET",
    path: "/actions/keys",
    summary: "List API keys",
    description: "Lists keys, newest first, without their secrets.",
    auth: { kind: "login" },
    query: keyListQuerySchema,
    rate: "poll",
    answers: { 200: listOf(keyRecordSchema) },
  }),
  createKey: defineOperation({
    method: "POST",
    path: "/actions/keys",
    summary: "Create an API key",
    description: "The response is the only one that contains the key. The service stores only a hash of it.",
    auth: { kind: "login" },
    body: createKeySchema,
    bodyBytesMax: 64 * 1024,
    requiresJsonType: true,
    rate: "create",
    answers: { 201: keyCreatedSchema },
  }),
  revokeKey: defineOperation({
    method: "DELETE",
    path: "/actions/keys/:keyId",
    summary: "Revoke an API key",
    description: "The key stops working immediately. Revoking it again changes nothing.",
    auth: { kind: "login" },
    rate: "poll",
    answers: { 200: keyRevokedSchema },
  }),
  updateKey: defineOperation({
    method: "PATCH",
    path: "/actions/keys/:keyId",
    summary: "Change the scopes of an API key",
    description:
      "Replaces the scopes of the key. Open streams, WebSockets and MCP tokens that need a scope that the key has lost end within a second.",
    auth: { kind: "login" },
    body: updateKeySchema,
    bodyBytesMax: 64 * 1024,
    requiresJsonType: true,
    rate: "poll",
    errors: ["conflict"],
    answers: { 200: keyUpdatedSchema },
  }),
  rotateKey: defineOperation({
    method: "POST",
    path: "/actions/keys/:keyId/rotate",
    summary: "Rotate an API key",
    description:
      "Creates a new key with the same owner, name and scopes, and with the lifetime that the old key was created with. The old key stays valid for `overlapHours`, 24 hours by default. A key has at most one valid successor; rotating it again is a 409 until the successor is revoked or has expired.",
    auth: { kind: "login" },
    body: rotateKeySchema,
    bodyBytesMax: 64 * 1024,
    requiresJsonType: true,
    rate: "create",
    errors: ["conflict"],
    answers: { 201: keyRotatedSchema },
  }),
  rotateEncryption: defineOperation({
    method: "POST",
    path: "/actions/encryption/rotate",
    summary: "Encrypt stored secrets with the current key",
    description:
      "Encrypts stored callback secrets, MCP headers and URLs again with `ENCRYPTION_KEY`, after a change of the key. A call takes at most about five seconds and encrypts a part of the values; repeat it with `nextCursor` as `cursor` until `nextCursor` is null. The service can run meanwhile. `npm run keys -- rotate-encryption` makes all of these calls.",
    auth: { kind: "login" },
    body: rotateEncryptionSchema,
    bodyBytesMax: 64 * 1024,
    requiresJsonType: true,
    rate: "poll",
    answers: { 200: encryptionRotatedSchema },
  }),
} as const satisfies Record<string, Operation>;
