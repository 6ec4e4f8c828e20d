import { defineOperation, type Operation } from "../operation.ts";
import { listOf } from "../schemas/answers.ts";
import {
  createKeySchema,
  keyCreatedSchema,
  keyListQuerySchema,
  keyRecordSchema,
  keyRevokedSchema,
  keyRotatedSchema,
  rotateKeySchema,
} from "../schemas/keys.ts";

export const keyOperations = {
  listKeys: defineOperation({
    method: "GET",
    path: "/actions/keys",
    summary: "List API keys",
    auth: { kind: "login" },
    query: keyListQuerySchema,
    rate: "poll",
    answers: { 200: listOf(keyRecordSchema) },
  }),
  createKey: defineOperation({
    method: "POST",
    path: "/actions/keys",
    summary: "Create an API key",
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
    auth: { kind: "login" },
    rate: "poll",
    answers: { 200: keyRevokedSchema },
  }),
  rotateKey: defineOperation({
    method: "POST",
    path: "/actions/keys/:keyId/rotate",
    summary: "Rotate an API key",
    auth: { kind: "login" },
    body: rotateKeySchema,
    bodyBytesMax: 64 * 1024,
    requiresJsonType: true,
    rate: "create",
    errors: ["conflict"],
    answers: { 201: keyRotatedSchema },
  }),
} as const satisfies Record<string, Operation>;
