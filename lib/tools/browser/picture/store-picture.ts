import type { EvidenceKind } from "#db/schema/unions.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import { shorten } from "#lib/text/shorten.ts";
import { quoteAsData } from "../../quote-as-data.ts";
import type { ToolCall, ToolResult } from "../../tool.ts";
import type { Picture } from "./take-picture.ts";

const URL_CHARS_MAX = 2_000;

/**
 * Stores a picture as evidence. The tool result contains the evidence id, URL, time and size as text, and the picture
 * for the model.
 */
export async function storePicture(
  evidence: Pick<EvidenceStore, "save">,
  call: Pick<ToolCall, "sessionId" | "runId">,
  picture: Picture,
  about: { kind: Extract<EvidenceKind, "screenshot" | "preview">; title: string; url: string },
): Promise<ToolResult> {
  const pointer = await evidence.save({
    sessionId: call.sessionId,
    runId: call.runId,
    ...about,
    mediaType: picture.mediaType,
    bytes: picture.bytes,
  });
  const notes = [
    `Evidence ${pointer.id}: ${about.title}`,
    quoteAsData("the page", `url: ${shorten(about.url, URL_CHARS_MAX)}`),
    `time: ${new Date().toISOString()}`,
    `size: ${picture.width}×${picture.height} px, ${Math.ceil(picture.bytes.byteLength / 1024)} KiB, ${picture.mediaType}`,
    ...(picture.cutFrom === null
      ? []
      : [`The page is ${picture.cutFrom} px high; the picture holds its upper part.`]),
    ...(picture.modelHeight < picture.height
      ? [`Shown here are its first ${picture.modelHeight} px; take single elements by selector for the rest.`]
      : []),
  ];
  const marks = picture.marks.map(
    ({ label, x, y, width, height }) => `${label} at ${x},${y} ${width}×${height}`,
  );
  const listed = `Marked, with boxes in pixels of the picture shown here: ${quoteAsData("the page", marks.join("\n"))}`;
  if (marks.length > 0) notes.push(listed);
  return {
    isError: false,
    content: [
      { type: "text", text: notes.join("\n") },
      { type: "image", evidence: pointer, data: picture.modelBytes },
    ],
  };
}
