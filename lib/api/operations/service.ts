import { createHash } from "node:crypto";
import { refuseKey } from "../auth/admit-caller.ts";
import { readKey } from "../auth/authenticate.ts";
import { isLocalCaller } from "../http/local-caller.ts";
import type { Answer } from "../operations/handler.ts";
import type { ApiServices } from "../services.ts";
import type { CallOf } from "./handler.ts";

/** `GET /api/health`: the process answers. */
export async function readHealth(): Promise<Answer> {
  return { ok: true, status: 200, body: { ok: true } };
}

/**
 * `GET /api/ready`: every part that a turn needs answers. Which part does not is told to callers with an API key, and to
 * this machine. A wrong key is no error here: a probe whose key has expired goes on.
 */
export async function readReadiness(
  services: ApiServices,
  { request }: CallOf<"readReadiness">,
): Promise<Answer> {
  const [checks, mayRead] = await Promise.all([services.readiness(), mayReadChecks(services, request)]);
  const ok = Object.values(checks).every((check) => check.ok);
  return { ok: true, status: ok ? 200 : 503, body: { ok, ...(mayRead && { checks }) } };
}

async function mayReadChecks(services: ApiServices, request: Request): Promise<boolean> {
  if (isLocalCaller(request)) return true;
  if (readKey(request.headers) === undefined) return false;
  const checked = await services.authenticate(request.headers);
  // The probe is answered, and a wrong key is counted.
  if (!checked.ok) refuseKey(services, request, checked);
  return checked.ok;
}

type Served = { text: string; etag: string };

/** The document of each service, made when somebody first asks. */
const documents = new WeakMap<ApiServices, Promise<Served>>();

/** `GET /api/openapi.json`. Source: `wire.md`, Also served. */
export async function readOpenApi(
  services: ApiServices,
  { request }: CallOf<"readOpenApi">,
): Promise<Answer> {
  const making = documents.get(services) ?? makeDocument(services.settings.baseUrl);
  documents.set(services, making);
  const { text, etag } = await making;
  // Asked about every time, so that a new version is seen at once.
  const headers = { ETag: etag, "Cache-Control": "no-cache" };
  if (namesTag(request.headers.get("if-none-match"), etag))
    return new Response(null, { status: 304, headers });
  return new Response(text, { headers: { ...headers, "Content-Type": "application/json" } });
}

async function makeDocument(baseUrl: string): Promise<Served> {
  // Loaded here, because a start needs none of it.
  const { buildDocument } = await import("../openapi/document/build-document.ts");
  const text = JSON.stringify(buildDocument(baseUrl));
  return { text, etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"` };
}

/** Compared weakly, as `If-None-Match` asks. */
const namesTag = (header: string | null, etag: string): boolean =>
  header?.split(",").some((tag) => ["*", etag].includes(tag.trim().replace(/^W\//, ""))) ?? false;

/**
 * `POST /api/sessions/:sessionId/mcp-token`: the session's user token, with which another agent uses the tools that the
 * session's policy leaves. Nothing is stored: the token is valid until it expires, the session is deleted, or the API key
 * that asked for it is revoked.
 */
export async function createMcpToken(
  { builtinMcp }: ApiServices,
  { session, caller }: CallOf<"createMcpToken">,
): Promise<Answer> {
  const { token, url, expiresAt } = builtinMcp.issueToken(session.id, caller.keyId);
  return { ok: true, status: 201, body: { success: true, token, url, expiresAt: expiresAt.toISOString() } };
}
