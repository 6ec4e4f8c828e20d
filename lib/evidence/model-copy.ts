/** The size of a picture, in pixels. */
type Size = { width: number; height: number };

/** A part of a picture: all of its width, and a range of its height, in pixels of the picture. */
export type PicturePart = { top: number; height: number };

/** How a picture is shown to a model: in parts from top to bottom, each scaled. */
type Division = { scale: number; parts: PicturePart[] };

/** Model providers scale larger pictures down themselves. In pixels, for the longer edge. */
const MODEL_EDGE_MAX = 1_568;
/** Text in a picture of a page is not readable if the picture is scaled further down. */
const SCALE_MIN = 0.75;
/** Maximum number of pixels; a larger picture is not opened. */
const PIXELS_MAX = 60_000_000;

/**
 * Divides a picture for a model. A picture is shown whole if it is readable then. A higher one, such as that of a long
 * page, is divided into parts of about the same height. A wide one is scaled to the model's limit.
 */
export function divideForModel({ width, height }: Size): Division {
  const whole = Math.min(1, MODEL_EDGE_MAX / Math.max(width, height));
  const ofWidth = Math.min(1, MODEL_EDGE_MAX / width);
  if (whole >= Math.min(SCALE_MIN, ofWidth)) return { scale: whole, parts: [{ top: 0, height }] };
  const count = Math.ceil((height * ofWidth) / MODEL_EDGE_MAX);
  const step = Math.ceil(height / count);
  const parts: PicturePart[] = [];
  for (let top = 0; top < height; top += step) parts.push({ top, height: Math.min(step, height - top) });
  return { scale: ofWidth, parts };
}

/** Reads the size of a picture. Undefined if it is broken or has more than 60 million pixels. */
export async function readPictureSize(bytes: Uint8Array): Promise<Size | undefined> {
  try {
    const { width, height } = await (await open(bytes)).metadata();
    return { width, height };
  } catch {
    return undefined;
  }
}

/** A picture as a model gets it. */
type ModelCopy = { bytes: Uint8Array; mediaType: string };

/**
 * Makes the copy of a stored picture, or of one part of it, that a model gets. A picture that needs no change is
 * returned as it is, and so is one whose size cannot be read. The same picture and part always give the same bytes, so
 * the copy need not be stored.
 * @param part by default the whole picture, scaled to the model's limit.
 * @returns undefined if the picture is broken.
 */
export async function copyForModel(picture: ModelCopy, part?: PicturePart): Promise<ModelCopy | undefined> {
  const size = await readPictureSize(picture.bytes);
  if (!size) return picture;
  const top = Math.min(part?.top ?? 0, size.height - 1);
  const height = Math.min(part?.height ?? size.height, size.height - top);
  const isWhole = height === size.height;
  if (isWhole && Math.max(size.width, height) <= MODEL_EDGE_MAX) return picture;
  const drawn = (await open(picture.bytes))
    .extract({ left: 0, top, width: size.width, height })
    .resize({ width: MODEL_EDGE_MAX, height: MODEL_EDGE_MAX, fit: "inside", withoutEnlargement: true })
    .flatten({ background: "#fff" })
    .jpeg({ quality: 80 });
  const bytes = await drawn.toBuffer().catch(() => undefined);
  return bytes && { bytes, mediaType: "image/jpeg" };
}

/** Opens a picture. Loads sharp on demand, because its native library loads slowly and few sessions need it. */
async function open(bytes: Uint8Array) {
  const { default: sharp } = await import("sharp");
  return sharp(bytes, { limitInputPixels: PIXELS_MAX, failOn: "error", sequentialRead: true });
}
