import { MISSING_BYTES } from "#lib/evidence/evidence.ts";
import { attachment } from "../http/attachment.ts";
import { namesTag } from "../http/entity-tag.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

/** File extensions of downloaded artifacts, by media type without its parameters. */
const EXTENSIONS = new Map([
  ["text/html", "html"],
  ["text/markdown", "md"],
  ["text/plain", "txt"],
  ["application/json", "json"],
  ["application/zip", "zip"],
]);

const extensionOf = (mediaType: string): string =>
  EXTENSIONS.get(mediaType.split(";", 1)[0]?.trim().toLowerCase() ?? "") ?? "bin";

const PICTURES = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);

/**
 * `GET …/artifacts/:artifactId`: downloads an artifact. Browsers show pictures. They save all other files, in
 * particular stored pages, and do not show them. Browsers keep artifacts, but ask each time whether they may still show
 * them, so that a revoked link ends the access to pictures that were shown before.
 */
export async function readArtifact(
  services: ApiServices,
  { params, request }: CallOf<"readArtifact">,
): Promise<Answer> {
  const artifact = await services.evidence.read(params.sessionId, params.artifactId);
  if (!artifact) return fail("not_found", "no such artifact");
  const { id, mediaType } = artifact.pointer;
  if (!artifact.bytes) return fail("not_found", `the artifact exists, but ${MISSING_BYTES}`);
  const isPicture = PICTURES.has(mediaType);
  // An artifact never changes, so its id is its entity tag.
  const caching = { ETag: `"${id}"`, "Cache-Control": "private, no-cache" };
  if (namesTag(request.headers.get("if-none-match"), caching.ETag))
    return new Response(null, { status: 304, headers: caching });
  return new Response(Buffer.from(artifact.bytes), {
    headers: {
      "Content-Type": isPicture ? mediaType : "application/octet-stream",
      "Content-Disposition": isPicture ? "inline" : attachment(`${id}.${extensionOf(mediaType)}`),
      "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
      "X-Content-Type-Options": "nosniff",
      ...caching,
    },
  });
}

export const artifactHandlers = {
  readArtifact,
  readAgentArtifact: readArtifact,
} satisfies Partial<Handlers>;
