import { contract } from "../../contract/contract.ts";
import { ERROR_STATUS, type ErrorCode } from "../../contract/error-codes.ts";
import type { Operation } from "../../contract/operation.ts";
import type { OpenApiDocument, PathItem } from "../types.ts";
import { addExamples } from "./add-examples.ts";
import { createSchemaCollector } from "./collect-schemas.ts";
import { describeLive, LIVE_PATH } from "./describe-live.ts";
import { describeOperation } from "./describe-operation.ts";
import { bareErrorSchema, describeRefusal, errorSchema, nameRefusal } from "./describe-refusals.ts";
import { describeWebhooks } from "./describe-webhooks.ts";
import { HEADERS } from "./headers.ts";
import { describePathParameter, readPathNames } from "./parameters.ts";
import { TAGS } from "./tags.ts";

/** Version of the interface. Increase it with every change that clients may notice. */
const VERSION = "1.0.0";

const DESCRIPTION = `An AI agent works on a web page in a session. One call creates the session and starts its first turn. Programs follow the turn by polling, by an event stream or by signed callbacks, and can request a result that matches their JSON Schema.

**Credentials.** Send an API key as \`Authorization: Bearer <API_KEY>\` or as \`X-Service-Api-Key: <API_KEY>\`. A key can access only the sessions of its owner; other sessions return 404. \`GET\` requires the scope \`sessions:read\`, and all other methods require \`sessions:write\`. A request whose key lacks the scope gets a 403.

**Errors** have the form \`{ "success": false, "error": "<message>", "code": "<code>" }\`, unless an operation documents another form. The message starts with the path of the invalid field, if there is one. Handle errors by \`code\`; messages may change. A method that a path does not support returns 405 \`method_not_allowed\` with an \`Allow\` header. \`HEAD\` works for every \`GET\` operation.

**Rate limits** are counted per API key, per share link for operations of the session page, and per session for annotations. Wrong credentials are counted per client address. Responses of limited operations have \`RateLimit-*\` headers. A 429 has a \`Retry-After\` header with the seconds to wait.

**Compatibility.** Future versions may add fields to responses and events, and may add kinds of events. Ignore unknown fields and kinds.`;

const SECURITY_SCHEMES = {
  bearerKey: { type: "http", scheme: "bearer", description: "`Authorization: Bearer <API_KEY>`." },
  headerKey: {
    type: "apiKey",
    in: "header",
    name: "X-Service-Api-Key",
    description: "The API key without a prefix.",
  },
  shareCookie: {
    type: "apiKey",
    in: "cookie",
    name: "share",
    description:
      "Cookie that the service sets when a visitor opens a session's `shareUrl` or a share link. The cookie is valid for the paths of that session. On https its name is `__Secure-share`.",
  },
  shareToken: {
    type: "apiKey",
    in: "header",
    name: "X-Share-Token",
    description:
      "The token of a share link, instead of the share cookie. For pages in frames of other sites, where browsers block cookies. A request with this header is not admitted by a cookie.",
  },
  loginCookie: {
    type: "apiKey",
    in: "cookie",
    name: "operator",
    description:
      "Cookie that the service sets when an operator signs in, with a login link or at the identity provider. On https its name is `__Host-operator`.",
  },
};

/**
 * Builds the OpenAPI 3.1 document of the whole interface from the contract. The same contract always gives the same
 * document.
 *
 * @param baseUrl public origin of the service, without a trailing slash.
 */
export function buildDocument(
  baseUrl: string,
  operations: Record<string, Operation> = contract,
): OpenApiDocument {
  const collector = createSchemaCollector();
  const paths: Record<string, PathItem> = {};
  const parameters = new Set<string>();
  for (const [name, operation] of Object.entries(operations)) {
    const path = operation.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = {
      ...paths[path],
      [operation.method.toLowerCase()]: describeOperation(collector, name, operation),
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
      summary: "HTTP interface to AI agents that work on web pages.",
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

const METHODS = ["get", "post", "put", "patch", "delete"];

/** Sorts the paths by name, and the methods of each path in the usual order (GET first). */
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

/** Removes responses, headers and tags that the document does not reference. */
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
