import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { createEventStreamParser } from "#lib/client/parse-event-stream.ts";
import { contract } from "../contract/contract.ts";
import { isRoutedSessionId } from "../contract/paths.ts";
import { domainEventSchema } from "../contract/schemas/events.ts";
import { createPathMatcher } from "../http/match-path.ts";
import { buildDocument } from "./document/build-document.ts";
import { HEADERS } from "./document/headers.ts";
import { type JsonSchema, refTo } from "./json-schema.ts";
import type { OpenApiDocument, OperationObject, ResponseObject } from "./types.ts";

/** What was asked: `body` as it was sent, where it was JSON. */
type Exchange = { method: string; pathname: string; body?: unknown };

/** Holds an answer to the document. @returns the answer, to be read as before. @throws Error that says what differs. */
type AnswerCheck = (exchange: Exchange, response: Response) => Promise<Response>;

/** Headers that refusals may carry from steps before them, or that every answer has. */
const EVERYWHERE = new Set(["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Cache-Control"]);
/** Headers that an answer which declares them always has. */
const ALWAYS = new Set(["Location", "ETag", "Retry-After", "Allow", "Content-Disposition"]);

/**
 * For tests: makes the check of what a service really answers against its own document: the status is declared, the body
 * fits its schema and has no other field, headers are those that are declared, every event of a stream fits its kind,
 * and a body that was taken is one that the document allows.
 *
 * @param onChecked told of every operation that answered, with the status.
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
    // What no operation stands at is another's to answer, the browser of a session that cannot be above all.
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
    if (!declared) throw new Error(`${where}: the document has no such status`);
    onChecked(name, response.status);
    checkHeaders(where, declared, response);
    if (response.ok && body !== undefined) checkTaken(where, operation, body);
    if (method === "HEAD") return response;
    const type = response.headers.get("content-type")?.split(";")[0] ?? "";
    if (type === "text/event-stream") return checkEvents(where, response);
    if (!declared.content) {
      if (response.body) throw new Error(`${where}: the document has no body here`);
      return response;
    }
    const media = Object.keys(declared.content).find(
      (key) => type === key || (key === "image/*" && type.startsWith("image/")),
    );
    if (media === undefined) throw new Error(`${where}: the document has no ${type} here`);
    const { schema } = declared.content[media] ?? {};
    if (media === "application/json" && schema) explain(where, schema, await response.clone().json());
    return response;
  };

  function explain(where: string, schema: JsonSchema, value: unknown): void {
    const errors = ajv.explain(schema, value);
    if (errors.length > 0)
      throw new Error(
        `${where} is not as documented: ${errors.join("; ")} in ${JSON.stringify(value).slice(0, 2_000)}`,
      );
  }

  function checkTaken(where: string, operation: OperationObject, body: unknown): void {
    const schema = operation.requestBody?.content["application/json"]?.schema;
    if (schema) explain(`${where}: a body that was taken`, schema, body);
  }

  /** Passes a stream on, and breaks it off at the first event that is not as documented. */
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
      throw new Error(`${where}: the document has no header ${name} here`);
    if (!isThere && name in headers && ALWAYS.has(name)) throw new Error(`${where}: ${name} is missing`);
  }
}

/** A method that the path does not have: `OPTIONS` is answered, any other refused; both say which there are. */
function checkOtherMethod(where: string, method: string, response: Response): void {
  const expected = method === "OPTIONS" ? [204, 403] : [405];
  if (!expected.includes(response.status)) throw new Error(`${where}: expected ${expected.join(" or ")}`);
  if (response.status === 405 && !response.headers.has("allow"))
    throw new Error(`${where}: Allow is missing`);
}

/**
 * A document whose named schemas let no other field through: answers are shown open, because a later version may add
 * fields, but a service of today sends no field that its document does not have.
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
    // What only narrows the schema that it stands in has no type of its own.
    const choices = schema[key]?.map((choice) => (choice.type === undefined ? choice : close(choice)));
    if (choices) closed[key] = choices;
  }
  return closed;
}

/** Validates values against schemas of a document, each compiled once. */
type DocumentAjv = {
  /** What is wrong with a value, as sentences; none where it is valid. */
  explain: (schema: JsonSchema, value: unknown) => string[];
};

/** Makes the validator of one document. */
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
