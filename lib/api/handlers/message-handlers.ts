import type { AnnotationPart } from "#db/schema/index.ts";
import { markSent, readAnnotationParts } from "#lib/annotation/send-annotations.ts";
import { acceptMessage, type NewFollowUp } from "#lib/session/follow-up/accept-message.ts";
import { isKeyUsed } from "#lib/session/store/follow-up-store.ts";
import { cropAnnotations } from "../annotations/crop-annotations.ts";
import { lookForAnnotations } from "../annotations/look-for-annotations.ts";
import { unknownSession } from "../auth/known-session.ts";
import { readFollowUpMessages } from "../contract/operations/follow-ups.ts";
import { statusPath, streamPath } from "../contract/paths.ts";
import { takeAttachments } from "../files/take-attachments.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

/**
 * `POST /api/sessions/:sessionId/agent/messages`: posts a message. A turn that this operation starts never counts as
 * started by a person. Source: `wire.md`, Follow-ups.
 */
const postMessage = (services: ApiServices, call: CallOf<"postMessage">): Promise<Answer> =>
  accept(services, call, "external");

/** Posts a message from the session page. A turn that the message starts counts as started by a person. */
const postPersonMessage = (services: ApiServices, call: CallOf<"postPersonMessage">): Promise<Answer> =>
  accept(services, call, "person");

/**
 * Posts a message of the page around a frame. The page is a program, so that the turn never counts as started by a
 * person. Source: `wire.md`, Embedding.
 */
const postHostMessage = (services: ApiServices, call: CallOf<"postHostMessage">): Promise<Answer> =>
  accept(services, call, "external");

async function accept(
  services: ApiServices,
  {
    body,
    caller,
    hashBody,
    params,
    session,
  }: CallOf<"postMessage" | "postPersonMessage" | "postHostMessage">,
  origin: "person" | "external",
): Promise<Answer> {
  const { sessionId } = params;
  const idempotencyKey = body.idempotencyKey ?? null;
  const paths = body.attachments ?? [];
  const ids = body.annotations ?? [];
  // The files and annotations of a replay may have changed since its first use.
  const readsReplay = async () =>
    paths.length + ids.length > 0 && (await isKeyUsed(services.db, sessionId, idempotencyKey));
  // The agent is told if an element of an annotation is no longer on the page.
  const found =
    ids.length > 0 && !(await readsReplay()) ? await lookForAnnotations(services, sessionId, ids) : [];
  // The look can take seconds, so that the message may have been accepted meanwhile.
  const isReplay = await readsReplay();
  const annotated = await readAnnotationParts(services.db, sessionId, isReplay ? [] : ids);
  const attached = await takeAttachments(services, session, isReplay ? [] : paths);
  if (!attached.ok) return attached;
  const isSent = !isReplay && annotated.problem === undefined;
  const crops = await cropAnnotations(services, sessionId, isSent ? found : []);
  const added = [...addPictures(annotated.parts, crops.evidenceIds), ...attached.parts];
  const messages = readFollowUpMessages(body).map((message) => ({
    ...message,
    parts: [...message.parts, ...(message.role === "user" ? added : [])],
  }));
  const input: NewFollowUp = {
    sessionId,
    messages,
    mode: body.mode ?? "queue",
    origin,
    deploymentExcludes: services.settings.excludesTools,
    // Visitors with a share link are not the caller whose id the session has.
    userId: body.userId ?? (caller ? session.userId : null),
    idempotencyKey,
    bodyHash: hashBody(),
    // Refuses annotations here and not above, because `acceptMessage` answers a replay before.
    alongside: async (tx, emit, requestId) =>
      annotated.problem ?? (await markSent(tx, emit, { sessionId, requestId, ids })),
  };
  const accepted = await acceptMessage(services, input);
  if (accepted.status !== "accepted") {
    await attached.discard();
    await crops.discard();
  }
  if (accepted.status === "refused") return fail("invalid_request", accepted.error);
  return answerAccepted(services, sessionId, accepted);
}

/** Adds the evidence with their pictures to annotations of a message. */
const addPictures = (parts: AnnotationPart[], evidenceIds: ReadonlyMap<string, string>): AnnotationPart[] =>
  parts.map((part) => {
    const evidenceId = evidenceIds.get(part.annotationId);
    return evidenceId === undefined ? part : { ...part, evidenceId };
  });

/** Answers a call that posted a message. If the message interrupts a run, stops that run first. */
export async function answerAccepted(
  services: ApiServices,
  sessionId: string,
  accepted: Awaited<ReturnType<typeof acceptMessage>>,
): Promise<Answer> {
  if (accepted.status === "unknown_session") return unknownSession();
  if (accepted.status === "reused")
    return fail("idempotency_key_reused", "idempotencyKey: was used before with another body");
  if (accepted.status === "queue_full" || accepted.status === "refused")
    return fail("conflict", accepted.error);
  if (accepted.interrupts !== null)
    await services.turn.stopRun(accepted.interrupts, { by: "message", name: null });
  const { requestId, runId, queued } = accepted;
  if (queued) services.queueChanged(sessionId);
  return {
    ok: true,
    status: 202,
    body: {
      success: true,
      sessionId,
      requestId,
      runId,
      queued,
      statusUrl: statusPath(sessionId, requestId),
      streamUrl: streamPath(sessionId, requestId),
    },
    headers: accepted.status === "replayed" ? { "Idempotency-Replayed": "true" } : {},
  };
}

export const messageHandlers = {
  postMessage,
  postPersonMessage,
  postHostMessage,
} satisfies Partial<Handlers>;
