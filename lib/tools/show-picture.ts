import type { EvidencePointer } from "#lib/events/event.ts";
import { copyForModel, divideForModel, type PicturePart, readPictureSize } from "#lib/evidence/model-copy.ts";
import type { ToolContent } from "./tool.ts";

/** Maximum number of parts in one answer. */
const PARTS_SHOWN = 3;

/** A stored picture as an answer shows it to the model. */
type ShownPicture = {
  /** The images of the shown parts, from top to bottom. */
  images: ToolContent[];
  /** Says which parts are shown and how to see the others. Undefined if the whole picture is shown in one image. */
  note: string | undefined;
  /** The scale of the images, and all parts of the picture. */
  scale: number;
  parts: PicturePart[];
};

/**
 * Shows a stored picture to the model: whole if it is readable then, otherwise in parts, at most three of them.
 * @param firstPart number of the first part to show, from 1.
 * @returns undefined if the picture is broken.
 */
export async function showPicture(
  evidence: EvidencePointer,
  bytes: Uint8Array,
  firstPart = 1,
): Promise<ShownPicture | undefined> {
  const { mediaType } = evidence;
  const size = await readPictureSize(bytes);
  if (!size) {
    const image = { type: "image", evidence, data: bytes, mediaType } as const;
    return { images: [image], note: undefined, scale: 1, parts: [] };
  }
  const { scale, parts } = divideForModel(size);
  const shown = parts.slice(firstPart - 1, firstPart - 1 + PARTS_SHOWN);
  const images: ToolContent[] = [];
  for (const part of shown) {
    const copy = await copyForModel({ bytes, mediaType }, part);
    if (!copy) return undefined;
    const isWhole = parts.length === 1;
    images.push({
      type: "image",
      evidence,
      data: copy.bytes,
      mediaType: copy.mediaType,
      ...(!isWhole && { part }),
    });
  }
  const [first, last] = [shown[0], shown.at(-1)];
  if (parts.length === 1 || !first || !last) return { images, note: undefined, scale, parts };
  const range = `px ${first.top} to ${last.top + last.height} of ${size.height} in height`;
  const numbers =
    shown.length === 1 ? `part ${firstPart}` : `parts ${firstPart} to ${firstPart + shown.length - 1}`;
  const others =
    shown.length < parts.length
      ? ` The others: view_image with evidenceId ${evidence.id} and the number of a part.`
      : "";
  return { images, note: `Shown here: ${numbers} of ${parts.length}, ${range}.${others}`, scale, parts };
}
