import type { z } from "zod";
import { domainEventSchema, messageDeltaSchema } from "#lib/events/event-schemas.ts";
import { ERROR_STATUS, type ErrorCode } from "../../contract/error-codes.ts";
import { type Operation, scopeOf } from "../../contract/operation.ts";
import type { JsonSchema } from "../json-schema.ts";
import type { MediaObject, OperationObject, ResponseObject } from "../types.ts";
import type { SchemaCollector } from "./collect-schemas.ts";
import { describeBareRefusal, listRefusals, nameRefusal } from "./describe-refusals.ts";
import { RATE_HEADERS, referToHeaders } from "./headers.ts";
import { describeParameters, listPathParameters } from "./parameters.ts";
import { tagOf } from "./tags.ts";

type Ref = { $ref: string };

/**
 * Describes one operation of the contract. Examples that are built from schemas are added later, when all schemas are
 * known.
 */
export function describeOperation(
  collector: SchemaCollector,
  operationId: string,
  operation: Operation,
): OperationObject {
  const { summary, description, body } = operation;
  const parameters = [
    ...listPathParameters(operation.path),
    ...describeParameters(collector, "query", operation.query),
    ...describeParameters(collector, "header", operation.headers),
  ];
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    tags: [tagOf(operation)],
    security: describeSecurity(operation),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: describeBody(collector, operation, body) }),
    ...(operation.takesBytes && { requestBody: describeBytes(operation) }),
    responses: describeResponses(collector, operation),
  };
}

/**
 * Lists the credentials that an operation accepts. For API keys, also lists the needed scope; OpenAPI 3.1 allows scopes
 * for every kind of credential.
 */
function describeSecurity(operation: Operation): Record<string, string[]>[] {
  const { auth } = operation;
  const needed = scopeOf(operation);
  const scopes = needed === null ? [] : [needed];
  const keys = [{ bearerKey: scopes }, { headerKey: scopes }];
  switch (auth.kind) {
    case "key":
      return keys;
    case "share":
      return [...(auth.orKey ? keys : []), { shareCookie: [] }, { shareToken: [] }];
    case "login":
    case "person":
      return [{ loginCookie: [] }];
    case "page":
    case "none":
      return [{}];
  }
}

function describeBody(collector: SchemaCollector, operation: Operation, body: z.ZodType) {
  const schema = collector.add(operation.bodyShownAs ?? body, "input");
  const titled = Object.entries(operation.bodyExamples ?? {});
  const examples = Object.fromEntries(
    titled.map(([summary, value]) => [nameExample(summary), { summary, value }]),
  );
  return {
    description: describeLimit(operation),
    required: operation.isBodyOptional !== true,
    content: { "application/json": { schema, ...(titled.length > 0 && { examples }) } },
  };
}

const describeBytes = (operation: Operation) => ({
  description: `The bytes of the file, of any type. ${describeLimit(operation)}`,
  required: false,
  content: { "application/octet-stream": { schema: {} } },
});

function describeLimit({ bodyBytesMax = 0 }: Operation): string {
  const mebibytes = bodyBytesMax / 1024 / 1024;
  return `At most ${mebibytes >= 1 ? `${mebibytes} MiB` : `${mebibytes * 1024} KiB`}.`;
}

/** Creates a key from the title of an example: `A typed result` becomes `a-typed-result`. */
const nameExample = (title: string) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-");

function describeResponses(collector: SchemaCollector, operation: Operation): OperationObject["responses"] {
  const byStatus = new Map<number, (ResponseObject | Ref)[]>();
  const add = (status: number, response: ResponseObject | Ref) =>
    byStatus.set(status, [...(byStatus.get(status) ?? []), response]);
  for (const [status, answer] of Object.entries(operation.answers))
    add(Number(status), describeAnswer(collector, operation, Number(status), answer));
  for (const code of listRefusals(operation)) add(ERROR_STATUS[code], describeRefusalOf(operation, code));
  const sorted = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(sorted.map(([status, responses]) => [status, unite(responses)]));
}

function describeRefusalOf(operation: Operation, code: ErrorCode): ResponseObject | Ref {
  const sentence = operation.bare?.[ERROR_STATUS[code]];
  return sentence === undefined
    ? { $ref: `#/components/responses/${nameRefusal(code)}` }
    : describeBareRefusal(code, sentence);
}

/** Descriptions of successful responses, and of the 503 that the readiness check returns. */
const MEANINGS: Record<number, string> = {
  200: "Success.",
  201: "Created and stored.",
  202: "Accepted and stored.",
  204: "No more events. An `EventSource` stops reconnecting.",
  206: "The requested part of the file.",
  304: "Not modified.",
  503: "Not ready.",
};

function describeAnswer(
  collector: SchemaCollector,
  operation: Operation,
  status: number,
  answer: z.ZodType | "stream",
): ResponseObject {
  const limited = operation.rate && answer !== "stream" ? RATE_HEADERS : [];
  const names = [...(operation.answerHeaders?.[status] ?? []), ...limited];
  const described = {
    description: MEANINGS[status] ?? "Success.",
    ...(names.length > 0 && { headers: referToHeaders(names) }),
  };
  const media = operation.media?.[status] ?? [];
  const content: Record<string, MediaObject> = Object.fromEntries(
    media.map((type) => [type, describeStream(collector, type)] as const),
  );
  if (answer !== "stream") content["application/json"] = { schema: collector.add(answer, "output") };
  return Object.keys(content).length === 0 ? described : { ...described, content };
}

/**
 * Describes a response in one of the media types that its operation lists in `media`. OpenAPI 3.1 cannot describe an
 * event stream, so the schema of an event stream describes the `data` of each message.
 */
function describeStream(collector: SchemaCollector, type: string): MediaObject {
  if (type !== "text/event-stream") return { schema: type === "application/json" ? { type: "object" } : {} };
  const schema: JsonSchema = {
    description: "The `data` of each message, as JSON. `event` is its `kind`, and `id` is its `seq`.",
    anyOf: [collector.add(domainEventSchema, "output"), collector.add(messageDeltaSchema, "output")],
  };
  return { schema };
}

/** Merges several descriptions of the same status into one response. */
function unite(responses: (ResponseObject | Ref)[]): ResponseObject | Ref {
  const [first, ...others] = responses;
  if (!first) throw new Error("a status without a response");
  if (others.length === 0) return first;
  const whole = responses.filter((response): response is ResponseObject => !("$ref" in response));
  const codes = responses.flatMap((response) => ("$ref" in response ? [response.$ref] : []));
  const schemas = whole.flatMap((response) => response.content?.["application/json"]?.schema ?? []);
  const descriptions = whole.map(({ description }) => description);
  const named = codes.map((ref) => `\`${ref.split("/").at(-1)}\``);
  const errors: JsonSchema[] = codes.length > 0 ? [{ $ref: "#/components/schemas/Error" }] : [];
  const all = [...schemas, ...errors];
  return {
    description: [...descriptions, ...(named.length > 0 ? [`Or an error: ${named.join(", ")}.`] : [])].join(
      " ",
    ),
    ...(whole[0]?.headers && { headers: whole[0].headers }),
    content: { "application/json": { schema: all.length === 1 && all[0] ? all[0] : { anyOf: all } } },
  };
}
