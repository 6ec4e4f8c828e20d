import { attachment } from "../http/attachment.ts";
import { fail } from "../http/errors.ts";
import type { Answer } from "../operations/handler.ts";
import type { ApiServices } from "../services.ts";
import type { CallOf } from "./handler.ts";

/** Endings of the files that are downloaded, by media type without its parameters. */
const ENDINGS = new Map([
  ["text/html", "html"],
  ["text/markdown", "md"],
  ["text/plain", "txt"],
  ["application/json", "json"],
  ["application/zip", "zip"],
]);

const endingOf = (mediaType: string): string =>
  ENDINGS.get(mediaType.split(";", 1)[0]?.trim().toLowerCase() ?? "") ?? "bin";

const PICTURES = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);

/** `GET …/artifacts/:artifactId`. Pictures are shown; anything else, a saved page above all, is only ever downloaded. */
export async function readArtifact(
  services: ApiServices,
  { params }: CallOf<"readArtifact">,
): Promise<Answer> {
  const kept = await services.evidence.read(params.sessionId, params.artifactId);
  if (!kept) return fail("not_found", "no such artifact");
  const isPicture = PICTURES.has(kept.pointer.mediaType);
  return new Response(Buffer.from(kept.bytes), {
    headers: {
      "Content-Type": isPicture ? kept.pointer.mediaType : "application/octet-stream",
      "Content-Disposition": isPicture
        ? "inline"
        : attachment(`${kept.pointer.id}.${endingOf(kept.pointer.mediaType)}`),
      "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
      "X-Content-Type-Options": "nosniff",
      "Cache-Control": "private, max-age=31536000, immutable",
    },
  });
}
