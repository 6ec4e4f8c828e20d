import { z } from "zod";
import { httpUrl } from "./fields.ts";

// These schemas only document request bodies. The handlers validate the bodies, because the specification defines the
// exact error messages.

/** Body of a request to navigate the browser. Source: specification, POST /api/sessions/:sessionId/browser. */
export const retargetSchema = z
  .object({ url: httpUrl.meta({ description: "URL to navigate to." }) })
  .meta({ id: "Retarget" });

/** Body of the annotation webhook. Source: specification, Annotation submission; `wire.md`, Annotations. */
export const annotationSubmissionSchema = z
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
