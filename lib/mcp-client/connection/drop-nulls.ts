import {
  CreateTaskResultSchema,
  GetTaskResultSchema,
  InitializeResultSchema,
  JSONRPCMessageSchema,
  ServerNotificationSchema,
  ServerRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { z } from "zod";
import { dropRefusedNulls } from "#lib/text/read-nulls-as-absent.ts";

/** The SDK's schemas of the results that the SDK itself reads, by the method of the request. */
const RESULTS = new Map<string, z.ZodType>([
  ["initialize", InitializeResultSchema],
  ["tools/call", CreateTaskResultSchema],
  ["tasks/get", GetTaskResultSchema],
]);

/** The SDK's schemas of the requests and notifications of servers, by their method. */
const MESSAGES = new Map<string, z.ZodType>(
  [...ServerRequestSchema.options, ...ServerNotificationSchema.options].map((schema) => [
    schema.shape.method.value,
    schema,
  ]),
);

/**
 * Removes each null of a server's message that stands for an absent field: where the SDK's schema has an optional field
 * that must not be null. Other nulls stay: those that the schema allows, and those in data such as `structuredContent`.
 * Without this, one such null would lose the whole answer, or the whole server.
 *
 * @param methodOf returns the method of the request with this id.
 */
export function dropNulls(message: unknown, methodOf: (id: unknown) => string | undefined): unknown {
  if (!isFields(message)) return message;
  const envelope = dropRefusedNulls(JSONRPCMessageSchema, dropUnused(message));
  if (!isFields(envelope)) return message;
  const { method, result, id } = envelope;
  if (typeof method === "string") {
    const schema = MESSAGES.get(method);
    return schema ? dropRefusedNulls(schema, envelope) : envelope;
  }
  const asked = methodOf(id);
  const schema = asked === undefined ? undefined : RESULTS.get(asked);
  // A call's result is only read by the SDK if it is that of a task.
  if (!schema || !isFields(result) || (asked === "tools/call" && !isFields(result.task))) return envelope;
  return { ...envelope, result: dropRefusedNulls(schema, result) };
}

/** Removes the members of a JSON-RPC message that older versions of JSON-RPC require to be null, such as `error`. */
const dropUnused = (message: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(message).filter(
      ([name, value]) => value !== null || !["method", "params", "result", "error"].includes(name),
    ),
  );

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
