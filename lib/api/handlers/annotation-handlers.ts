import { hasAnnotation } from "#lib/annotation/annotation-store.ts";
import { changeAnnotation as change, removeAnnotation as remove } from "#lib/annotation/change-annotation.ts";
import { listAnnotations as readAnnotations } from "#lib/annotation/list-annotations.ts";
import { type AnnotationSubmission, parseSubmission } from "#lib/annotation/parse-submission.ts";
import { recordAnnotation } from "#lib/annotation/record-annotation.ts";
import { lookForAnnotations } from "../annotations/look-for-annotations.ts";
import { unknownSession } from "../auth/known-session.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import { unknownCursor } from "./list-handlers.ts";
import type { ApiServices } from "./services.ts";

/**
 * `POST …/annotations/webhook`: submits annotations. The success response and the errors 400, 404 and 405 have no
 * envelope. Source: specification, POST …/annotations/webhook; `wire.md`, Annotations.
 */
async function submitAnnotation(
  services: ApiServices,
  { params, body }: CallOf<"submitAnnotation">,
): Promise<Answer> {
  const parsed = parseSubmission(body);
  if (!parsed.ok) return Response.json({ error: parsed.error }, { status: 400 });
  return record(services, params.sessionId, parsed.submission);
}

/** Submits annotations from the session page. Open to visitors whose role may comment. All errors have the envelope. */
async function annotateAsPerson(
  services: ApiServices,
  { session, body }: CallOf<"annotateAsPerson">,
): Promise<Answer> {
  const parsed = parseSubmission(body);
  if (!parsed.ok) return fail("invalid_request", parsed.error);
  return record(services, session.id, parsed.submission);
}

async function record(
  services: ApiServices,
  sessionId: string,
  submission: AnnotationSubmission,
): Promise<Answer> {
  const { settings, annotationKey } = services;
  const recorded = await recordAnnotation(
    services,
    sessionId,
    submission,
    settings.annotations,
    annotationKey,
  );
  if (recorded.ok) return { ok: true, status: 200, body: { ok: true } };
  return recorded.reason === "full" ? fail("conflict", recorded.error) : unknownSession();
}

/** `GET …/annotations`: lists annotations, newest first. */
async function listAnnotations(
  services: ApiServices,
  { params, query }: CallOf<"listAnnotations">,
): Promise<Answer> {
  const page = await readAnnotations(services.db, params.sessionId, {
    limit: query.limit ?? 50,
    ...(query.cursor && { cursor: query.cursor }),
    ...(query.status && { status: [query.status] }),
  });
  if (page.data.length === 0 && query.cursor !== undefined)
    if (!(await hasAnnotation(services.db, params.sessionId, query.cursor))) return unknownCursor();
  return { ok: true, status: 200, body: { success: true, ...page } };
}

/** `PATCH …/annotations/:annotationId`: resolves or reopens an annotation. */
async function changeAnnotation(
  services: ApiServices,
  { params, body: { status, resolution } }: CallOf<"changeAnnotation">,
): Promise<Answer> {
  const wanted = status === "open" ? { status } : { status, resolution };
  const annotation = await change(services, params.sessionId, params.annotationId, wanted);
  return annotation ? { ok: true, status: 200, body: { success: true, annotation } } : unknownAnnotation();
}

/** `DELETE …/annotations/:annotationId`: removes an annotation. */
async function removeAnnotation(
  services: ApiServices,
  { params }: CallOf<"removeAnnotation">,
): Promise<Answer> {
  const isRemoved = await remove(services, params.sessionId, params.annotationId);
  return isRemoved ? { ok: true, status: 200, body: { success: true } } : unknownAnnotation();
}

/** `POST …/annotations/locate`: looks for annotated elements on the page that the browser shows. */
async function locateAnnotations(
  services: ApiServices,
  { params }: CallOf<"locateAnnotations">,
): Promise<Answer> {
  const data = await lookForAnnotations(services, params.sessionId);
  return { ok: true, status: 200, body: { success: true, data } };
}

/** `POST …/annotations/target`: describes what a person marks on the picture of the page. */
async function describeTarget(
  { browser }: ApiServices,
  { params, body }: CallOf<"describeTarget">,
): Promise<Answer> {
  const target = await browser.locateTarget(params.sessionId, body);
  return { ok: true, status: 200, body: { success: true, target } };
}

const unknownAnnotation = () => fail("not_found", "no such annotation");

export const annotationHandlers = {
  submitAnnotation,
  annotateAsPerson,
  listAnnotations,
  changeAnnotation,
  removeAnnotation,
  locateAnnotations,
  describeTarget,
} satisfies Partial<Handlers>;
