import { contract } from "../../contract/contract.ts";
import type { Operation } from "../../contract/operation.ts";
import { ERROR_STATUS, type ErrorCode } from "../../http/errors.ts";
import type { OpenApiDocument, PathItem } from "../types.ts";
import { addExamples } from "./add-examples.ts";
import { createSchemaCollector } from "./collect-schemas.ts";
import { describeLive, LIVE_PATH } from "./describe-live.ts";
import { describeOperation } from "./describe-operation.ts";
import { bareErrorSchema, describeRefusal, errorSchema, nameRefusal } from "./describe-refusals.ts";
import { describeWebhooks } from "./describe-webhooks.ts";
import { HEADERS } from "./headers.ts";
import { OPERATION_DOCS, type OperationDocs } from "./operation-docs.ts";
import { describePathParameter, readPathNames } from "./parameters.ts";
import { TAGS } from "./tags.ts";

/** Raised with every change that a client may notice. */
const VERSION = "1.0.0";

const DESCRIPTION = `An AI agent works on a web page in a session. One call creates the session and starts its first turn; programs follow it by polling, by an event stream or by signed callbacks, and can demand a result that matches their JSON Schema.

**Credentials.** Send an API key as \`Authorization: Bearer <API_KEY>\` or as \`X-Service-Api-Key: <API_KEY>\`. A key sees its owner's sessions alone; any other is a 404. \`GET\` needs the scope \`sessions:read\`, everything else \`sessions:write\`; without it the answer is a 403.

**Refusals** have one envelope, \`{ "success": false, "error": "<sentence>", "code": "<code>" }\`, except where this document says otherwise. The sentence begins with the path of the field that it is about. Go by \`code\`; sentences may change. A method that a path does not have is a 405 \`method_not_allowed\` with an \`Allow\` header. \`HEAD\` works wherever \`GET\` does.

**Limits** are counted per key, and per session for annotations. Answers carry \`RateLimit-*\` headers where there is a limit; a 429 says with \`Retry-After\` when to come back.

**To come.** Answers and events may gain fields, and events may gain kinds: pass over what you do not know.`;

const SECURITY_SCHEMES = {
  bearerKey: { type: "http", scheme: "bearer", description: "`Authorization: Bearer <API_KEY>`." },
  headerKey: {
    type: "apiKey",
    in: "header",
    name: "X-Service-Api-Key",
    description: "The API key by itself.",
  },
  shareCookie: {
    type: "apiKey",
    in: "cookie",
    name: "share",
    description: "What opening a session's `shareUrl` leaves in the browser, for the paths of that session.",
  },
  loginCookie: {
    type: "apiKey",
    in: "cookie",
    name: "operator",
    description: "What opening the link that the service prints at its start leaves in the browser.",
  },
};

/**
 * The whole interface as an OpenAPI 3.1 document, made of the contract: the same contract gives the same document.
 *
 * @param baseUrl public origin of the service, without a trailing slash.
 */
export function buildDocument(
  baseUrl: string,
  operations: Record<string, Operation> = contract,
  docs: Record<string, OperationDocs> = OPERATION_DOCS,
): OpenApiDocument {
  const collector = createSchemaCollector();
  const paths: Record<string, PathItem> = {};
  const parameters = new Set<string>();
  for (const [name, operation] of Object.entries(operations)) {
    const path = operation.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = {
      ...paths[path],
      [operation.method.toLowerCase()]: describeOperation(collector, name, operation, docs[name]),
    };
    for (const parameter of readPathNames(operation.path)) parameters.add(parameter);
  }
  paths[LIVE_PATH.replace(/:(\w+)/g, "{$1}")] = { get: describeLive(collector) };
  const webhooks = describeWebhooks(collector);
  const codes = Object.keys(ERROR_STATUS) as ErrorCode[];
  const document: OpenApiDocument = {
    openapi: "3.1.1",
    info: {
      title: "Agent Session Service",
      version: VERSION,
      summary: "AI agents that work on web pages, as an HTTP interface.",
      description: DESCRIPTION,
    },
    servers: [{ url: baseUrl, description: "This service." }],
    security: [{ bearerKey: [] }, { headerKey: [] }],
    tags: TAGS.map((tag) => ({ ...tag })),
    paths: mapInOrder(paths),
    webhooks,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: HEADERS,
      parameters: Object.fromEntries(
        [...parameters].sort().map((name) => [name, describePathParameter(name)]),
      ),
      responses: Object.fromEntries(codes.map((code) => [nameRefusal(code), describeRefusal(code)])),
      schemas: { ...collector.components(), BareError: bareErrorSchema, Error: errorSchema },
    },
  };
  return addExamples(dropUnused(document));
}

const METHODS = ["get", "post", "patch", "delete"];

/** Paths by name, and the methods of each in the usual order. */
const mapInOrder = (paths: Record<string, PathItem>): Record<string, PathItem> =>
  Object.fromEntries(
    Object.keys(paths)
      .sort()
      .map((path) => {
        const methods = Object.entries(paths[path] ?? {});
        return [
          path,
          Object.fromEntries(methods.sort(([a], [b]) => METHODS.indexOf(a) - METHODS.indexOf(b))),
        ];
      }),
  );

/** Leaves out the responses, headers and tags that nothing in the document refers to. */
function dropUnused(document: OpenApiDocument): OpenApiDocument {
  const { components } = document;
  const isUsed = (kind: string, text: string) => (name: string) =>
    text.includes(`"#/components/${kind}/${name}"`);
  const used = isUsed("responses", JSON.stringify(document.paths));
  const responses = keep(components.responses, used);
  const headers = keep(components.headers, isUsed("headers", JSON.stringify([document.paths, responses])));
  const text = JSON.stringify([document.paths, document.webhooks]);
  const tags = document.tags.filter(({ name }) => text.includes(`"tags":[${JSON.stringify(name)}]`));
  return { ...document, tags, components: { ...components, responses, headers } };
}

const keep = <Value>(
  record: Record<string, Value>,
  isKept: (name: string) => boolean,
): Record<string, Value> => Object.fromEntries(Object.entries(record).filter(([name]) => isKept(name)));
