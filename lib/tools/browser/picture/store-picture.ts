import type { EvidenceKind } from "#db/schema/unions.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import type { PicturePart } from "#lib/evidence/model-copy.ts";
import type { Mark } from "#lib/injected/tools/mark-controls.ts";
import { shorten } from "#lib/text/shorten.ts";
import { quoteAsData } from "../../quote-as-data.ts";
import { showPicture } from "../../show-picture.ts";
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
  const shown = await showPicture(pointer, picture.bytes);
  if (!shown) throw new Error("the browser returned a broken picture");
  const notes = [
    `Evidence ${pointer.id}: ${about.title}`,
    quoteAsData("the page", `url: ${shorten(about.url, URL_CHARS_MAX)}`),
    `time: ${new Date().toISOString()}`,
    `size: ${picture.width}×${picture.height} px, ${Math.ceil(picture.bytes.byteLength / 1024)} KiB, ${picture.mediaType}`,
    ...(picture.cutFrom === null
      ? []
      : [`The page is ${picture.cutFrom} px high; the picture holds its upper part.`]),
    ...(shown.note === undefined ? [] : [shown.note]),
  ];
  const marks = picture.marks.map((mark) => describeMark(mark, shown.scale, shown.parts));
  const where = shown.parts.length > 1 ? "its part of the picture" : "the picture shown here";
  if (marks.length > 0)
    notes.push(`Marked, with boxes in pixels of ${where}: ${quoteAsData("the page", marks.join("\n"))}`);
  return { isError: false, content: [{ type: "text", text: notes.join("\n") }, ...shown.images] };
}

/** Describes where the model sees a mark: in the image of the part that has its center. */
function describeMark({ label, x, y, width, height }: Mark, scale: number, parts: PicturePart[]): string {
  const center = y + height / 2;
  const index = parts.findLastIndex(({ top }) => top <= center);
  const top = parts[index]?.top ?? 0;
  const [left, upper, wide, high] = [x, y - top, width, height].map((each) => Math.round(each * scale));
  const part = parts.length > 1 ? ` in part ${Math.max(index, 0) + 1}` : "";
  return `${label} at ${left},${upper} ${wide}×${high}${part}`;
}
