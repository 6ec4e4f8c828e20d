/**
 * A valid submission of the annotation overlay, including its unknown fields. Source: specification, Annotation
 * submission.
 */
export type AnnotationSubmission = Record<string, unknown> & { event: string };

type ParsedSubmission = { ok: true; submission: AnnotationSubmission } | { ok: false; error: string };

/**
 * Checks a submission. `event` must be a non-empty string. If `event` is `submit`, `annotations` is required. Each
 * other field that the specification defines is optional, but must have the specified type. Unknown fields are kept
 * unchanged. Source: `wire.md`, Annotations.
 *
 * @returns the submission, or an error sentence that begins with the name of the first wrong field, or with `body`.
 */
export function parseSubmission(body: unknown): ParsedSubmission {
  if (!isObject(body)) return refuse("body: must be an object");
  const { event, output, annotations, url } = body;
  if (typeof event !== "string" || event === "") return refuse("event: must be a non-empty string");
  if (annotations === undefined && event === "submit") return refuse("annotations: is required");
  if (annotations !== undefined) {
    if (!Array.isArray(annotations)) return refuse("annotations: must be an array");
    const flaw = findAnnotationFlaw(annotations);
    if (flaw !== undefined) return refuse(flaw);
  }
  if (output !== undefined && typeof output !== "string") return refuse("output: must be a string");
  if (url !== undefined && (typeof url !== "string" || !URL.canParse(url)))
    return refuse("url: must be an absolute URL");
  if (!isStorable(body)) return refuse("body: must be well-formed Unicode without NUL characters");
  return { ok: true, submission: { ...body, event } };
}

const refuse = (error: string): ParsedSubmission => ({ ok: false, error });

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function findAnnotationFlaw(annotations: unknown[]): string | undefined {
  for (const [index, annotation] of annotations.entries()) {
    if (!isObject(annotation)) return `annotations[${index}]: must be an object`;
    for (const field of ["type", "selector", "comment"])
      if (annotation[field] !== undefined && typeof annotation[field] !== "string")
        return `annotations[${index}].${field}: must be a string`;
  }
  return undefined;
}

/** Whether the database can store each string in the value. Postgres rejects NUL characters and lone surrogates. */
function isStorable(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, inner]) => isStorable(key) && isStorable(inner));
}
