import { createHash } from "node:crypto";
import { KEY_SCOPES } from "#lib/keys/key-scopes.ts";
import { refuseKey } from "../auth/admit-caller.ts";
import { readKey } from "../auth/authenticate.ts";
import { namesTag } from "../http/entity-tag.ts";
import { isLocalCaller } from "../http/local-caller.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices, HealthCheck } from "./services.ts";

/** `GET /api/health`: shows that the process responds. */
async function readHealth(): Promise<Answer> {
  return { ok: true, status: 200, body: { ok: true } };
}

/**
 * `GET /api/ready`: shows whether all parts that a turn needs are available. Only callers with an API key and callers
 * on this machine see the state of each part. A wrong key is not an error here, so that a probe continues to work after
 * its key has expired.
 */
export async function readReadiness(
  services: ApiServices,
  { request }: CallOf<"readReadiness">,
): Promise<Answer> {
  const [checks, mayRead] = await Promise.all([services.readiness(), mayReadChecks(services, request)]);
  const ok = Object.values(checks).every((check) => check.ok);
  const details = mayRead ? { checks, ...(await describeDeployment(services, checks.database)) } : {};
  return { ok: true, status: ok ? 200 : 503, body: { ok, ...details } };
}

async function describeDeployment({ deployment, logger }: ApiServices, database: HealthCheck) {
  const { scripts, missingTools, listHosts } = deployment;
  const listed = database.ok
    ? await listHosts().catch((error: unknown) =>
        logger.warn({ err: error }, "browser hosts were not listed"),
      )
    : undefined;
  return { browserHosts: listed ?? null, scripts, missingTools };
}

async function mayReadChecks(services: ApiServices, request: Request): Promise<boolean> {
  if (isLocalCaller(request)) return true;
  if (readKey(request.headers) === undefined) return false;
  const checked = await services.authenticate(request.headers);
  // `refuseKey` is called only to count the wrong key. Its result is not sent.
  if (!checked.ok) refuseKey(services, request, checked);
  return checked.ok;
}

type Served = { text: string; etag: string };

/** The OpenAPI document of each service. A document is built at the first request. */
const documents = new WeakMap<ApiServices, Promise<Served>>();

/** `GET /api/openapi.json`: returns the OpenAPI document. Source: `wire.md`, Also served. */
async function readOpenApi(services: ApiServices, { request }: CallOf<"readOpenApi">): Promise<Answer> {
  const document = documents.get(services) ?? makeDocument(services.settings.baseUrl);
  documents.set(services, document);
  const { text, etag } = await document;
  // Clients must revalidate the document every time, so that they get a new version at once.
  const headers = { ETag: etag, "Cache-Control": "no-cache" };
  if (namesTag(request.headers.get("if-none-match"), etag))
    return new Response(null, { status: 304, headers });
  return new Response(text, { headers: { ...headers, "Content-Type": "application/json" } });
}

async function makeDocument(baseUrl: string): Promise<Served> {
  // Imported only when it is needed, because the import would slow down the start of the service.
  const { buildDocument } = await import("../openapi/document/build-document.ts");
  const text = JSON.stringify(buildDocument(baseUrl));
  return { text, etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"` };
}

/**
 * `POST /api/sessions/:sessionId/mcp-token`: creates a user token, with which another agent can use the tools that the
 * session's policy allows. The token is not stored. It is valid until it expires, the session is deleted, or the API
 * key of this request is revoked, expires or loses the scope `sessions:write`.
 */
async function createMcpToken(
  { builtinMcp }: ApiServices,
  { session, caller }: CallOf<"createMcpToken">,
): Promise<Answer> {
  const { token, url, expiresAt } = builtinMcp.issueToken(session.id, caller.keyId);
  return { ok: true, status: 201, body: { success: true, token, url, expiresAt: expiresAt.toISOString() } };
}

/** `GET /.well-known/oauth-protected-resource/api/mcp`: describes the built-in MCP server. Source: RFC 9728, section 3. */
async function readMcpResource({ settings: { baseUrl } }: ApiServices): Promise<Answer> {
  const body = {
    resource: `${baseUrl}/api/mcp`,
    resource_name: "Agent Session Service",
    bearer_methods_supported: ["header"],
    scopes_supported: KEY_SCOPES,
    resource_documentation: `${baseUrl}/docs`,
  };
  return { ok: true, status: 200, body };
}

export const serviceHandlers = {
  createMcpToken,
  readHealth,
  readMcpResource,
  readOpenApi,
  readReadiness,
} satisfies Partial<Handlers>;
