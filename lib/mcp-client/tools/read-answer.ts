import { z } from "zod";
import { isJsonEqual } from "#lib/projection/json.ts";

/**
 * A part of a server's answer to a call. A `text` contains text of the server. A `note` is written by the service, and
 * contains at most a media type from the server.
 */
export type AnswerPart =
  | { type: "text"; text: string }
  | { type: "note"; text: string }
  | { type: "picture"; bytes: Uint8Array };

/**
 * An answer to a call. `isDeclined`: a form of the server was declined, because no person can be asked in this turn.
 */
export type McpAnswer = { isError: boolean; parts: AnswerPart[]; isDeclined?: boolean };

/** An answer that has not been checked yet. `structured` is the structured content; undefined if there is none. */
export type RawAnswer = McpAnswer & { structured?: unknown };

/** The result of a call. Each piece of `content` is validated separately later. */
export const callResultSchema = z.looseObject({
  content: z.array(z.unknown()).nullish(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false).catch(false),
  /** Only in the revision 2026-07-28: whether the result is complete, or the server needs something first. */
  resultType: z.string().nullish(),
  inputRequests: z.record(z.string(), z.unknown()).nullish(),
  requestState: z.string().nullish(),
});

const text = z.string();
const resource = z.looseObject({
  uri: text,
  mimeType: text.nullish(),
  text: text.nullish(),
  blob: text.nullish(),
});
const pieceSchema = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("text"), text }),
  z.looseObject({ type: z.literal("image"), data: text, mimeType: text.nullish() }),
  z.looseObject({ type: z.literal("audio"), data: text, mimeType: text.nullish() }),
  z.looseObject({
    type: z.literal("resource_link"),
    uri: text,
    name: text.nullish(),
    description: text.nullish(),
    mimeType: text.nullish(),
  }),
  z.looseObject({ type: z.literal("resource"), resource }),
]);

const PIECES_MAX = 1_000;
const PICTURES_MAX = 8;
const PICTURE_BYTES_MAX = 5 * 1_048_576;

const UNKNOWN: AnswerPart = {
  type: "note",
  text: "[A piece of the answer is of a kind that is not known here.]",
};

/**
 * Reads the result of a call, at most 1,000 pieces of `content`. Keeps text, and pictures within the limits. Describes
 * other content in words.
 */
export function readAnswer(result: z.output<typeof callResultSchema>): RawAnswer {
  const { structuredContent, isError } = result;
  const content = result.content ?? [];
  const parts: AnswerPart[] = [];
  let pictures = 0;
  for (const raw of content.slice(0, PIECES_MAX)) {
    const piece = pieceSchema.safeParse(raw);
    const read: AnswerPart[] = piece.success ? readPiece(piece.data, pictures) : [UNKNOWN];
    if (read[0]?.type === "picture") pictures += 1;
    parts.push(...read);
  }
  const left = content.length - PIECES_MAX;
  if (left > 0) parts.push({ type: "note", text: `[${left} more pieces of the answer are not shown.]` });
  // A null may stand for an absent field, so it is shown only if the answer has nothing else.
  const isShown = structuredContent === null ? parts.length === 0 : structuredContent !== undefined;
  if (isShown && !isRepeatedInText(parts, structuredContent))
    parts.push({ type: "text", text: writeJson(structuredContent) });
  return { isError, parts, structured: structuredContent };
}

/** Maximum number of characters of JSON that is indented. The indentation of deep values is larger than the values. */
const INDENTED_MAX = 4_096;

function writeJson(value: unknown): string {
  const compact = JSON.stringify(value);
  return compact.length > INDENTED_MAX ? compact : JSON.stringify(value, null, 1);
}

function readPiece(piece: z.output<typeof pieceSchema>, pictures: number): AnswerPart[] {
  switch (piece.type) {
    case "text":
      return [{ type: "text", text: piece.text }];
    case "image": {
      const bytes = Buffer.from(piece.data, "base64");
      if (pictures < PICTURES_MAX && bytes.byteLength <= PICTURE_BYTES_MAX)
        return [{ type: "picture", bytes }];
      return [describeBytes("A picture", piece.mimeType, bytes.byteLength)];
    }
    case "audio":
      return [describeBytes("A recording", piece.mimeType, sizeOf(piece.data))];
    case "resource_link": {
      const { uri, name, description, mimeType } = piece;
      const about = [name, description, mimeType].filter((each) => each).join(", ");
      return [{ type: "text", text: `[Link to a resource: ${uri}${about ? ` (${about})` : ""}]` }];
    }
    case "resource": {
      const { uri, mimeType, text: inside, blob } = piece.resource;
      if (typeof inside === "string") return [{ type: "text", text: `[Resource ${uri}]\n${inside}` }];
      return [
        { type: "text", text: `[Resource ${uri}]` },
        describeBytes("Its content", mimeType, sizeOf(blob ?? "")),
      ];
    }
  }
}

/** The decoded size of base64 text, in bytes. */
const sizeOf = (base64: string): number => Math.floor((base64.length * 3) / 4);

const describeBytes = (what: string, mimeType: string | null | undefined, bytes: number): AnswerPart => ({
  type: "note",
  text: `[${what}${/^[\w.+-]+\/[\w.+-]+$/.test(mimeType ?? "") ? ` (${mimeType})` : ""} of ${Math.ceil(bytes / 1_024)} KiB is not shown.]`,
});

/** Whether a text part repeats the structured content, as the protocol asks servers to do for older clients. */
const isRepeatedInText = (parts: AnswerPart[], value: unknown): boolean =>
  parts.some((part) => {
    if (part.type !== "text" || !/^\s*[[{]/.test(part.text)) return false;
    try {
      return isJsonEqual(JSON.parse(part.text), value);
    } catch {
      return false;
    }
  });
