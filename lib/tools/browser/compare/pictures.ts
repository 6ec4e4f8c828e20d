import type { Sharp } from "sharp";

/** RGBA, four bytes each. */
export type Pixels = Uint8Array<ArrayBuffer>;

/** Of a picture, in pixels. */
export type Size = { width: number; height: number };
export type Box = Size & { x: number; y: number };

const READ = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);
/** Beyond this a picture is not opened at all. */
const PIXELS_MAX = 60_000_000;
/** The size that models look at. */
const MODEL_EDGE_MAX = 1_568;

export const isPicture = (mediaType: string): boolean => READ.has(mediaType);

/** Its native library takes a while to load, and few sessions need it. */
async function open(bytes: Uint8Array, raw?: Size): Promise<Sharp> {
  const { default: sharp } = await import("sharp");
  const options = { limitInputPixels: PIXELS_MAX, failOn: "error", sequentialRead: true } as const;
  return sharp(bytes, { ...options, ...(raw && { raw: { ...raw, channels: 4 } }) });
}

/** A picture's size, or undefined where it cannot be read. */
export async function readSize(bytes: Uint8Array): Promise<Size | undefined> {
  try {
    const { width, height } = await (await open(bytes)).metadata();
    return { width, height };
  } catch {
    return undefined;
  }
}

/** The upper left part of a picture as pixels. @throws Error when it is broken. */
export async function decodePicture(bytes: Uint8Array, size: Size): Promise<Pixels> {
  const picture = (await open(bytes)).extract({ left: 0, top: 0, ...size });
  // A copy, whose memory can be handed to a thread.
  return new Uint8Array(await picture.toColourspace("srgb").ensureAlpha().raw().toBuffer());
}

/** The picture of the differences: whole as PNG, and as small as a model looks at it, as JPEG. */
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
