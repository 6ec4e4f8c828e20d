import { hasAnnotation } from "#lib/annotation/annotation-store.ts";
import type { AnnotationVerdict } from "#lib/browser/overlay/overlay-controller.ts";
import { deriveId } from "#lib/session/new-id.ts";
import { contract } from "../contract/contract.ts";
import type { ApiServices } from "../handlers/services.ts";
import { servePath } from "./serve-path.ts";

/**
 * Serves a submission of the annotation overlay. The overlay submits through a DevTools binding, because a page's
 * content policy may forbid a request to the webhook. The submission is treated like a call of the webhook, with the
 * same size cap, rate limit, validation and event. Source: `wire.md`, Annotations.
 *
 * @param body the body that the webhook would receive, as JSON text.
 * @param key names the submission. A repeat with the same key is not stored and not counted again.
 */
export async function submitFromOverlay(
  services: ApiServices,
  sessionId: string,
  body: string,
  key: string,
): Promise<AnnotationVerdict> {
  if (await hasAnnotation(services.db, sessionId, deriveId("ann", sessionId, key))) return { isStored: true };
  const { method, path } = contract.submitAnnotation;
  const url = new URL(path.replace(":sessionId", sessionId), services.settings.baseUrl);
  const request = new Request(url, { method, body, headers: { "content-type": "application/json" } });
  const keyed = { ...services, annotationKey: key };
  const response = await servePath(keyed, { [method]: "submitAnnotation" }, request, { sessionId });
  if (response.ok) return { isStored: true };
  if (response.status === 404) return { isStored: false, reason: "this session was deleted" };
  const { error } = (await response.json()) as { error: string };
  return { isStored: false, reason: error };
}
