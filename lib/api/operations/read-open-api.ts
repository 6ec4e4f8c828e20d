import { createHash } from "node:crypto";
import type { CallOf } from "../call.ts";
import type { Answer } from "../route.ts";
import type { ApiServices } from "../services.ts";

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
  const { buildDocument } = await import("../openapi/build-document.ts");
  const text = JSON.stringify(buildDocument(baseUrl));
  return { text, etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"` };
}

/** Compared weakly, as `If-None-Match` asks. */
const namesTag = (header: string | null, etag: string): boolean =>
  header?.split(",").some((tag) => ["*", etag].includes(tag.trim().replace(/^W\//, ""))) ?? false;
