import type { Sharp } from "sharp";

/** Pixels in RGBA, four bytes each. */
export type Pixels = Uint8Array<ArrayBuffer>;

/** The size of a picture, in pixels. */
export type Size = { width: number; height: number };
export type Box = Size & { x: number; y: number };

const READABLE_TYPES = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);
/** Maximum number of pixels; a larger picture is not opened. */
const PIXELS_MAX = 60_000_000;
/** The longest edge of a picture for the model, in pixels. */
const MODEL_EDGE_MAX = 1_568;

export const isPicture = (mediaType: string): boolean => READABLE_TYPES.has(mediaType);

/** Opens a picture. Loads sharp on demand, because its native library loads slowly and few sessions need it. */
async function open(bytes: Uint8Array, raw?: Size): Promise<Sharp> {
  const { default: sharp } = await import("sharp");
  const options = { limitInputPixels: PIXELS_MAX, failOn: "error", sequentialRead: true } as const;
  return sharp(bytes, { ...options, ...(raw && { raw: { ...raw, channels: 4 } }) });
}

/** Reads the size of a picture. Returns undefined if the picture is broken or has more than `PIXELS_MAX` pixels. */
export async function readSize(bytes: Uint8Array): Promise<Size | undefined> {
  try {
    const { width, height } = await (await open(bytes)).metadata();
    return { width, height };
  } catch {
    return undefined;
  }
}

/**
 * Decodes only the upper left part of a picture. `size` is the size of that part.
 * @throws Error if the picture is broken, smaller than `size`, or has more than `PIXELS_MAX` pixels.
 */
export async function decodePicture(bytes: Uint8Array, size: Size): Promise<Pixels> {
  const picture = (await open(bytes)).extract({ left: 0, top: 0, ...size });
  // Copies the pixels into a buffer of their own, because that buffer is transferred to a worker thread.
  return new Uint8Array(await picture.toColourspace("srgb").ensureAlpha().raw().toBuffer());
}

/**
 * Encodes a picture of differences twice: as a PNG in full size, and as a JPEG for the model. The JPEG is scaled down
 * if its longer edge would exceed `MODEL_EDGE_MAX`.
 */
export async function encodeDifference(
  pixels: Pixels,
  size: Size,
): Promise<{ png: Uint8Array; small: Uint8Array }> {
  const whole = await open(pixels, size);
  const edge = { width: MODEL_EDGE_MAX, height: MODEL_EDGE_MAX };
  const [png, small] = await Promise.all([
    whole.clone().png().toBuffer(),
    whole
      .clone()
      .resize({ ...edge, fit: "inside", withoutEnlargement: true })
      .flatten({ background: "#fff" })
      .jpeg({ quality: 80 })
      .toBuffer(),
  ]);
  return { png, small };
}
