/** Prefix of the text that refers to a picture in a recorded message. The picture's evidence id follows it. */
const SCHEME = "evidence:";
const REFERENCE = /^evidence:([^;\n]*);([\w.+/-]+)(?:;(\d+)\+(\d+))?$/;

/** A picture of the evidence store, or the part of its height that is shown, in pixels. */
type PictureReference = { id: string; mediaType: string; part?: { top: number; height: number } };

/** Writes the text that stands for a picture in a recorded message. */
export const writeReference = ({ id, mediaType, part }: PictureReference): string =>
  `${SCHEME}${id};${mediaType}${part ? `;${part.top}+${part.height}` : ""}`;

/** Reads such a text; undefined for any other text. */
export function readReference(text: string): PictureReference | undefined {
  const [, id, mediaType = "", top, height] = REFERENCE.exec(text) ?? [];
  if (id === undefined) return undefined;
  if (top === undefined) return { id, mediaType };
  return { id, mediaType, part: { top: Number(top), height: Number(height) } };
}
