import { shorten } from "#lib/text/shorten.ts";
import type { AnnotationRow } from "./annotation-store.ts";

/** Bounds of the text of one annotation, in UTF-16 units. The webhook takes 256 KiB, which would fill a prompt. */
const COMMENT_UNITS_MAX = 4_000;
const FIELD_UNITS_MAX = 500;
const TEXT_UNITS_MAX = 16_000;

/** What the agent reads of a lost annotation. */
const LOST = "No element of it was found on the page when the service last looked.";

/** The fields of a note that help to find its element again, in the order in which they are written. */
const ANCHOR_FIELDS = [
  "frame",
  "frameUrl",
  "selector",
  "shadowSelector",
  "role",
  "name",
  "element",
  "text",
  "quote",
] as const;

/**
 * Writes an annotation as text for the agent: its page, and for each note the anchors of its element and the comment.
 * Anyone can submit an annotation, so the text is data, and its fields may be missing or of any type.
 */
export function writeAnnotation({
  id,
  event,
  payload,
  status,
}: Pick<AnnotationRow, "id" | "event" | "payload" | "status">): string {
  const { url, output } = payload;
  const notes = Array.isArray(payload.annotations) ? payload.annotations : [];
  const lines = notes.flatMap((note: Record<string, unknown>, index) => [
    `${index + 1}. comment: ${shorten(textIn(note, "comment") ?? "none", COMMENT_UNITS_MAX)}`,
    ...ANCHOR_FIELDS.flatMap((field) => {
      const value = textIn(note, field);
      return value === undefined ? [] : [`   ${field}: ${shorten(value, FIELD_UNITS_MAX)}`];
    }),
  ]);
  const whole =
    notes.length === 0 && typeof output === "string" ? [shorten(output, COMMENT_UNITS_MAX)] : lines;
  const page = typeof url === "string" ? `, made on ${shorten(url, FIELD_UNITS_MAX)}` : "";
  const title = `Annotation ${id}${event === "submit" ? "" : ` (${shorten(event, 80)})`}${page}`;
  const sight = status === "lost" ? [LOST] : [];
  return shorten([title, ...sight, ...whole].join("\n"), TEXT_UNITS_MAX);
}

function textIn(note: Record<string, unknown>, field: string): string | undefined {
  const value = note[field];
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
