import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { createEventStreamParser } from "#lib/client/parse-event-stream.ts";
import { domainEventSchema } from "#lib/events/event-schemas.ts";
import { contract } from "../contract/contract.ts";
import { isRoutedSessionId } from "../contract/paths.ts";
import { createPathMatcher } from "../http/match-path.ts";
import { buildDocument } from "./document/build-document.ts";
import { HEADERS } from "./document/headers.ts";
import { type JsonSchema, refTo } from "./json-schema.ts";
import type { OpenApiDocument, OperationObject, ResponseObject } from "./types.ts";

/** A request that was sent. `body` is the JSON body, if the request had one. */
type Exchange = { method: string; pathname: string; body?: unknown };

/**
 * Checks a response against the document. @returns the response with its body unread.
 * @throws Error that describes the first difference.
 */
type AnswerCheck = (exchange: Exchange, response: Response) => Promise<Response>;

/** Headers that every response may have, even if the document does not declare them for the response. */
const EVERYWHERE = new Set(["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Cache-Control"]);
/** If the document declares one of these headers for a response, the response must have it. */
const ALWAYS = new Set(["Location", "ETag", "Retry-After", "Allow", "Content-Disposition"]);

/**
 * Creates a check for tests. The check compares real responses with the OpenAPI document. The document must declare the
 * status and the headers. The response's body must match its schema and have no additional fields; each event of a
 * stream must match the schema of its kind. The body of an accepted request must be valid too.
 *
 * @param onChecked called with the operation and the status, for every response whose status the document declares.
 */
export function createAnswerCheck(
  onChecked: (operation: string, status: number) => void = () => {},
): AnswerCheck {
  const document = closeSchemas(buildDocument("http://127.0.0.1"));
  const ajv = createDocumentAjv(document);
  const match = createPathMatcher(contract);

  return async (exchange, response) => {
    const { method, pathname, body } = exchange;
    const found = canDecode(pathname) ? match(pathname) : undefined;
    // Skips paths without an operation, because they are not part of the contract. Also skips the browser path with an
    // invalid session id, which Next answers with its own 404.
    const isMisnamed =
      found?.operations.POST === "retargetBrowser" && !isRoutedSessionId(found.params.sessionId ?? "");
    if (!found || isMisnamed) return response;
    const name = found.operations[method === "HEAD" ? "GET" : method];
    const where = `${method} ${pathname} → ${response.status}`;
    if (name === undefined) {
      checkOtherMethod(where, method, response);
      return response;
    }
    const operation = findOperation(document, name);
    const declared = findResponse(document, operation, response.status);
    if (!declared) throw new Error(`${where}: the document does not declare this status`);
    onChecked(name, response.status);
    checkHeaders(where, declared, response);
    if (response.ok && body !== undefined) checkAcceptedBody(where, operation, body);
    if (method === "HEAD") return response;
    const type = response.headers.get("content-type")?.split(";")[0] ?? "";
    if (type === "text/event-stream") return checkEvents(where, response);
    if (!declared.content) {
      if (response.body) throw new Error(`${where}: the document declares no body`);
      return response;
    }
    const media = Object.keys(declared.content).find(
      (key) => type === key || (key === "image/*" && type.startsWith("image/")),
    );
    if (media === undefined) throw new Error(`${where}: the document does not declare ${type}`);
    const { schema } = declared.content[media] ?? {};
    if (media === "application/json" && schema) explain(where, schema, await response.clone().json());
    return response;
  };

  function explain(where: string, schema: JsonSchema, value: unknown): void {
    const errors = ajv.explain(schema, value);
    if (errors.length > 0)
      throw new Error(
        `${where} does not match the document: ${errors.join("; ")} in ${JSON.stringify(value).slice(0, 2_000)}`,
      );
  }

  function checkAcceptedBody(where: string, operation: OperationObject, body: unknown): void {
    const schema = operation.requestBody?.content["application/json"]?.schema;
    if (schema) explain(`${where}: accepted body`, schema, body);
  }

  /** Forwards a stream. The forwarded stream fails at the first event that does not match the document. */
  function checkEvents(where: string, response: Response): Response {
    if (!response.body) return response;
    const parser = createEventStreamParser();
    const decoder = new TextDecoder();
    const checked = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        for (const { id, event, data } of parser.feed(decoder.decode(bytes, { stream: true }))) {
          const value = JSON.parse(data) as { kind: string; seq?: number };
          explain(
            `${where} ${event}`,
            id === undefined ? refTo("MessageDelta") : refTo(nameOfKind(value.kind)),
            value,
          );
          if (event !== value.kind || id !== (value.seq === undefined ? undefined : String(value.seq)))
            throw new Error(`${where}: id or event differ from the data: ${data}`);
        }
        controller.enqueue(bytes);
      },
    });
    const { status, headers } = response;
    return new Response(response.body.pipeThrough(checked), { status, headers });
  }
}

function canDecode(pathname: string): boolean {
  try {
    decodeURIComponent(pathname);
    return true;
  } catch {
    return false;
  }
}

const kinds = new Map(domainEventSchema.options.map((schema) => [schema.shape.kind.value as string, schema]));

function nameOfKind(kind: string): string {
  const id = kinds.get(kind)?.meta()?.id;
  if (id === undefined) throw new Error(`the document has no event ${kind}`);
  return id;
}

function findOperation(document: OpenApiDocument, name: string): OperationObject {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  const found = operations.find((operation) => operation?.operationId === name);
  if (!found) throw new Error(`the document has no ${name}`);
  return found;
}

function findResponse(
  document: OpenApiDocument,
  { responses }: OperationObject,
  status: number,
): ResponseObject | undefined {
  const declared = responses[status];
  if (!declared || !("$ref" in declared)) return declared;
  return document.components.responses[declared.$ref.split("/").at(-1) ?? ""];
}

function checkHeaders(where: string, { headers = {} }: ResponseObject, response: Response): void {
  for (const name of Object.keys(HEADERS)) {
    const isThere = response.headers.has(name);
    if (isThere && !(name in headers) && !EVERYWHERE.has(name))
      throw new Error(`${where}: the document does not declare the header ${name}`);
    if (!isThere && name in headers && ALWAYS.has(name)) throw new Error(`${where}: ${name} is missing`);
  }
}

/**
 * Checks the response to a method for which the path has no operation. `OPTIONS` must return 204 or 403, any other
 * method 405 with `Allow`.
 */
function checkOtherMethod(where: string, method: string, response: Response): void {
  const expected = method === "OPTIONS" ? [204, 403] : [405];
  if (!expected.includes(response.status)) throw new Error(`${where}: expected ${expected.join(" or ")}`);
  if (response.status === 405 && !response.headers.has("allow"))
    throw new Error(`${where}: Allow is missing`);
}

/**
 * Returns a copy of the document whose named schemas forbid additional fields. The published document allows them,
 * because later versions may add fields. This version must not send undocumented fields.
 */
export function closeSchemas(document: OpenApiDocument): OpenApiDocument {
  const { components } = document;
  const schemas = Object.fromEntries(
    Object.entries(components.schemas).map(([name, schema]) => [name, close(schema)]),
  );
  return { ...document, components: { ...components, schemas } };
}

function close(schema: JsonSchema): JsonSchema {
  const closed: JsonSchema = { ...schema };
  if (schema.properties) {
    closed.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, part]) => [name, close(part)]),
    );
    closed.additionalProperties ??= false;
  }
  if (schema.items) closed.items = close(schema.items);
  if (typeof schema.additionalProperties === "object")
    closed.additionalProperties = close(schema.additionalProperties);
  for (const key of ["anyOf", "oneOf"] as const) {
    // A choice without a type is not closed. It only restricts its parent schema, and a closed choice would forbid the
    // parent's fields.
    const choices = schema[key]?.map((choice) => (choice.type === undefined ? choice : close(choice)));
    if (choices) closed[key] = choices;
  }
  return closed;
}

/** Validates values against schemas of one document. Each schema is compiled once. */
type DocumentAjv = {
  /** Lists the violations of a value; empty if the value is valid. */
  explain: (schema: JsonSchema, value: unknown) => string[];
};

/** Creates the validator for one document. */
export function createDocumentAjv(document: OpenApiDocument): DocumentAjv {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, "document");
  const compiled = new Map<string, ValidateFunction>();
  return {
    explain(schema, value) {
      const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
      const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text));
      compiled.set(text, validate);
      if (validate(value)) return [];
      return (validate.errors ?? []).map(
        ({ instancePath, message }) => `${instancePath || "body"} ${message}`,
      );
    },
  };
}
