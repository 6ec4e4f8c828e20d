import { z } from "zod";
import { ANNOTATION_STATUSES } from "#db/schema/unions.ts";
import { RESOLUTION_UNITS_MAX } from "#lib/annotation/change-annotation.ts";
import { annotationRecordSchema, messageRecordSchema } from "#lib/events/event-schemas.ts";
import { defineOperation, type Operation, PUBLISHER_AUTH, READER_AUTH } from "../operation.ts";
import { listOf, settledSchema, success } from "../schemas/answers.ts";
import { textUpTo } from "../schemas/fields.ts";
import { listQuerySchema, messageListQuerySchema } from "../schemas/queries.ts";

/**
 * Body of the annotation webhook, for the API reference. The handler validates the body, because the specification
 * defines the exact error messages. Source: specification, Annotation submission; `wire.md`, Annotations.
 */
const annotationSubmissionSchema = z
  .looseObject({
    event: z
      .string()
      .min(1)
      .meta({ description: "Kind of submission. `submit` requires `annotations`.", examples: ["submit"] }),
    output: z
      .string()
      .optional()
      .meta({ description: "All annotations as text.", examples: ["The button is too small."] }),
    annotations: z
      .array(
        z.looseObject({
          type: z.string().optional(),
          selector: z
            .string()
            .optional()
            .meta({ examples: ["#pay"] }),
          comment: z
            .string()
            .optional()
            .meta({ examples: ["The button is too small."] }),
        }),
      )
      .optional(),
    url: z
      .string()
      .optional()
      .meta({
        format: "uri",
        description: "The annotated page.",
        examples: ["https://shop.example/checkout"],
      }),
  })
  .refine(({ event, annotations }) => event !== "submit" || annotations !== undefined, {
    path: ["annotations"],
    message: "is required",
  })
  .meta({
    id: "AnnotationSubmission",
    description: "What the annotation overlay submits. Unknown fields are stored too.",
  });

const annotationAcceptedSchema = z.object({ ok: z.literal(true) }).meta({ id: "AnnotationAccepted" });

const annotationChangeSchema = z
  .strictObject({
    status: z.enum(["open", "resolved"]).meta({
      description:
        "`open`: the annotation can be sent to the agent again. `resolved`: nothing is left to do.",
    }),
    resolution: textUpTo(RESOLUTION_UNITS_MAX)
      .optional()
      .meta({ description: "What was done. Only with `resolved`.", examples: ["The button is larger."] }),
  })
  .refine(({ status, resolution }) => status === "resolved" || resolution === undefined, {
    path: ["resolution"],
    message: "can be sent only with the status resolved",
  })
  .meta({ id: "AnnotationChange" });

const annotationAnswerSchema = z
  .object({ success, annotation: annotationRecordSchema })
  .meta({ id: "AnnotationAnswer", description: "The annotation after the change." });

const boxSchema = z
  .object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() })
  .meta({ id: "ElementBox", description: "A box in CSS pixels of the page's viewport." });

const soughtAnnotationsSchema = z
  .object({
    success,
    data: z.array(
      z.object({
        id: z.string().meta({ examples: ["ann_q5s7txyzacdf2gik4mnprvwb"] }),
        elements: z
          .array(
            z.union([
              z.object({
                state: z.literal("found"),
                by: z.enum(["selector", "role", "text"]).meta({
                  description:
                    "What found the element: its selector, its role with its name, or its tag with its text.",
                }),
                box: boxSchema.nullable().meta({ description: "Null if the element is not rendered." }),
              }),
              z.object({ state: z.enum(["gone", "unknown"]) }),
            ]),
          )
          .meta({
            description:
              "One entry for each of the annotation's elements. `unknown`: the page changed meanwhile, or a frame did not answer.",
          }),
      }),
    ),
  })
  .meta({ id: "SoughtAnnotations" });

const POSITION_MAX = 100_000;
const position = z.number().min(0).max(POSITION_MAX);
const pointSchema = z.strictObject({ x: position, y: position });

const markedPartSchema = z
  .discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("element"), x: position, y: position }),
    z.strictObject({
      kind: z.literal("area"),
      x: position,
      y: position,
      width: z.number().min(1).max(POSITION_MAX),
      height: z.number().min(1).max(POSITION_MAX),
    }),
    z.strictObject({ kind: z.literal("text"), from: pointSchema, to: pointSchema }),
  ])
  .meta({
    id: "MarkedPart",
    description:
      "What a person marks on the picture of the page, in CSS pixels of its viewport: the element at a point, an area, or the text between two points.",
    examples: [{ kind: "element", x: 320, y: 240 }],
  });

const markedTargetSchema = z
  .object({
    success,
    target: z
      .object({
        page: z.object({ title: z.string(), url: z.string() }),
        note: z
          .object({
            type: z.enum(["element", "area", "text"]),
            selector: z.string(),
            shadowSelector: z.string().optional(),
            frame: z.string().optional(),
            frameUrl: z.string().optional(),
            element: z.string(),
            role: z.string().optional(),
            name: z.string().optional(),
            text: z.string(),
            boundingBox: boxSchema,
            quote: z.string().optional(),
            area: boxSchema.optional(),
          })
          .meta({
            description:
              "The fields of a note for an annotation, without its comment. `boundingBox` and `area` are in CSS pixels of the page.",
          }),
        box: boxSchema,
      })
      .nullable()
      .meta({ description: "Null if there is nothing, no browser runs, or the page does not answer." }),
  })
  .meta({ id: "MarkedTarget" });

const annotationQuerySchema = listQuerySchema.extend({
  status: z
    .enum(ANNOTATION_STATUSES)
    .optional()
    .meta({ description: "Returns only annotations with this status." }),
});

/** The fields that the operations for submitting annotations share, in the webhook and on the session page. */
export const annotationSubmission = {
  body: z.unknown(),
  bodyShownAs: annotationSubmissionSchema,
  bodyBytesMax: 256 * 1024,
  // Anybody can call the webhook, and each value takes time on the main thread.
  bodyValuesMax: 10_000,
  rate: "annotate",
  answers: { 200: annotationAcceptedSchema },
} as const;

export const recordOperations = {
  listMessages: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/messages",
    summary: "List the transcript",
    description: "Lists messages, oldest first. Queued messages are not part of the transcript.",
    auth: READER_AUTH,
    rate: "poll",
    query: messageListQuerySchema,
    answers: { 200: listOf(messageRecordSchema) },
  }),
  submitAnnotation: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/annotations/webhook",
    summary: "Submit annotations",
    description:
      "The annotation overlay in the pages of the live browser calls this webhook, from any origin and without an API key: the unguessable session id is the credential. An annotation never starts a turn. A session has a limited number of annotations; beyond it, the response is 409.",
    auth: { kind: "none" },
    errors: ["method_not_allowed"],
    bare: { 400: "invalid JSON body", 404: "not found", 405: "method not allowed" },
    ...annotationSubmission,
  }),
  listAnnotations: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/annotations",
    summary: "List annotations, newest first",
    auth: READER_AUTH,
    rate: "poll",
    query: annotationQuerySchema,
    answers: { 200: listOf(annotationRecordSchema) },
  }),
  locateAnnotations: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/annotations/locate",
    summary: "Look for the annotated elements",
    description:
      "Looks on the page that the live browser shows for the elements of its open, lost and sent annotations, of the newest 50 of the session. An open annotation without any of its elements becomes `lost`, a lost one whose element is back becomes `open`. Starts no browser; `data` is empty if none runs, or if the page has no such annotations.",
    auth: { kind: "share", role: "comment", orKey: true },
    rate: "act",
    answers: { 200: soughtAnnotationsSchema },
  }),
  describeTarget: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/annotations/target",
    summary: "Describe what a person marks",
    description:
      "Describes the element, area or text that a person marks on the picture of the live browser's page, as a note to which a comment is added. The page gets no input and notices nothing. Starts no browser.",
    auth: { kind: "share", role: "comment", orKey: true },
    rate: "poll",
    body: markedPartSchema,
    bodyBytesMax: 4 * 1024,
    answers: { 200: markedTargetSchema },
  }),
  changeAnnotation: defineOperation({
    method: "PATCH",
    path: "/api/sessions/:sessionId/annotations/:annotationId",
    summary: "Resolve or reopen an annotation",
    description: "Repeating the call changes nothing.",
    auth: { kind: "share", role: "comment", orKey: true },
    rate: "act",
    body: annotationChangeSchema,
    bodyBytesMax: 16 * 1024,
    answers: { 200: annotationAnswerSchema },
  }),
  removeAnnotation: defineOperation({
    method: "DELETE",
    path: "/api/sessions/:sessionId/annotations/:annotationId",
    summary: "Remove an annotation",
    description: "Messages with which the annotation was sent keep its text.",
    auth: PUBLISHER_AUTH,
    rate: "act",
    answers: { 200: settledSchema },
  }),
  readArtifact: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/artifacts/:artifactId",
    summary: "Download an artifact",
    description:
      "Returns evidence that a tool stored. Images are sent inline, everything else as a download.",
    auth: READER_AUTH,
    answers: { 200: "stream", 304: "stream" },
    media: { 200: ["image/*", "application/octet-stream"] },
    answerHeaders: {
      200: ["ETag", "Cache-Control", "Content-Disposition"],
      304: ["ETag", "Cache-Control"],
    },
  }),
} as const satisfies Record<string, Operation>;
