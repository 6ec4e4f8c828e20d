import type { AnnotationVerdict } from "#lib/browser/overlay/overlay-controller.ts";
import { contract } from "../contract/contract.ts";
import type { ApiServices } from "../handlers/services.ts";
import { servePath } from "./serve-path.ts";

/**
 * Serves a submission of the annotation overlay. The overlay submits through a DevTools binding, because a page's
 * content policy may forbid a request to the webhook. The submission is treated like a call of the webhook, with the
 * same size cap, rate limit, validation and event. Source: `wire.md`, Annotations.
 *
 * @param body the body that the webhook would receive, as JSON text.
 */
export async function submitFromOverlay(
  services: ApiServices,
  sessionId: string,
  body: string,
): Promise<AnnotationVerdict> {
  const { method, path } = contract.submitAnnotation;
  const url = new URL(path.replace(":sessionId", sessionId), services.settings.baseUrl);
  const request = new Request(url, { method, body, headers: { "content-type": "application/json" } });
  const response = await servePath(services, { [method]: "submitAnnotation" }, request, { sessionId });
  if (response.ok) return { isStored: true };
  if (response.status === 404) return { isStored: false, reason: "this session was deleted" };
  const { error } = (await response.json()) as { error: string };
  return { isStored: false, reason: error };
}
