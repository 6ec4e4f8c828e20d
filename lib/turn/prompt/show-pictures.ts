import type { ModelMessage, ToolResultPart } from "ai";
import { MISSING_BYTES } from "#lib/evidence/evidence.ts";
import { copyForModel, type PicturePart } from "#lib/evidence/model-copy.ts";
import type { ModelAccess } from "#lib/model/model-access.ts";
import type { TurnDeps } from "../run/turn-deps.ts";

const PICTURES_SHOWN = 8;
/** How many of the oldest shown pictures are hidden at once. A hidden picture changes the beginning of the prompt. */
const HIDDEN_AT_ONCE = 4;

/** Returns the maximum number of pictures that are sent to the model with a prompt. */
export const picturesShown = ({ supportsImages }: Pick<ModelAccess, "supportsImages">): number =>
  supportsImages ? PICTURES_SHOWN : 0;

/** Returns how many of the oldest of `count` pictures are not sent. */
const countHidden = (count: number, shownMax: number): number =>
  shownMax === 0 ? count : Math.max(0, Math.ceil((count - shownMax) / HIDDEN_AT_ONCE) * HIDDEN_AT_ONCE);

/** Prefix of the text that refers to a picture in a recorded tool message. The picture's evidence id follows it. */
const EVIDENCE_SCHEME = "evidence:";

type Output = ToolResultPart["output"];
type ContentItem = Extract<Output, { type: "content" }>["value"][number];

/**
 * Creates a reference to a picture, or to a part of it, for a recorded message. The bytes are in the evidence store.
 */
export const referToPicture = (evidenceId: string, mediaType: string, part?: PicturePart): ContentItem => ({
  type: "text",
  text: `${EVIDENCE_SCHEME}${evidenceId};${mediaType}${part ? `;${part.top}+${part.height}` : ""}`,
});

/**
 * Replaces references to the newest pictures by the pictures, as the results of their tools describe them. To save
 * context, a reference to an older picture becomes a line with the picture's id; this happens to several pictures at
 * once, so that most prompts begin with the prompt before them. A reference to a picture that is no longer stored becomes
 * such a line, too, and one to a
 * picture whose bytes are missing becomes a line that says so. For a model that does not accept images, all references
 * become lines.
 */
export async function showPictures(
  deps: TurnDeps,
  sessionId: string,
  messages: readonly ModelMessage[],
): Promise<readonly ModelMessage[]> {
  if (!hasPictures(messages)) return messages;
  const references = messages.flatMap(itemsOf).filter(isReference);
  const shown = new Map<ContentItem, ContentItem>();
  const hidden = countHidden(references.length, picturesShown(deps.model));
  for (const reference of references.slice(hidden)) {
    const picture = await readPicture(deps, sessionId, reference);
    if (picture) shown.set(reference, picture);
  }
  const show = (item: ContentItem) => (isReference(item) ? (shown.get(item) ?? describeHidden(item)) : item);
  return messages.map((message) => {
    if (message.role !== "tool" || !message.content.some(hasPicture)) return message;
    const content = message.content.map((part) =>
      part.type === "tool-result" && part.output.type === "content"
        ? { ...part, output: { ...part.output, value: part.output.value.map(show) } }
        : part,
    );
    return { ...message, content };
  });
}

/** Whether messages refer to pictures, which {@link showPictures} has to read. */
export const hasPictures = (messages: readonly ModelMessage[]): boolean =>
  messages.some((message) => message.role === "tool" && message.content.some(hasPicture));

const hasPicture = (part: { type: string; output?: Output }) =>
  part.type === "tool-result" && part.output?.type === "content" && part.output.value.some(isReference);

type Reference = Extract<ContentItem, { type: "text" }>;

const isReference = (item: ContentItem): item is Reference =>
  item.type === "text" && item.text.startsWith(EVIDENCE_SCHEME);

/** Returns the items of all results in a message, in their order. */
const itemsOf = (message: ModelMessage): ContentItem[] =>
  message.role === "tool"
    ? message.content.flatMap((part) =>
        part.type === "tool-result" && part.output.type === "content" ? part.output.value : [],
      )
    : [];

function parseReference({ text }: Reference): { id: string; mediaType: string; part?: PicturePart } {
  const [id = "", mediaType = "image/png", range] = text.slice(EVIDENCE_SCHEME.length).split(";");
  if (range === undefined) return { id, mediaType };
  const [top = 0, height = 0] = range.split("+").map(Number);
  return { id, mediaType, part: { top, height } };
}

const describeHidden = (reference: Reference): ContentItem => ({
  type: "text",
  text: `[picture ${parseReference(reference).id}, not shown again]`,
});

/** Returns the picture, or a line that says why it cannot be shown; undefined if it is no longer stored. */
async function readPicture(
  deps: TurnDeps,
  sessionId: string,
  reference: Reference,
): Promise<ContentItem | undefined> {
  const { id, mediaType, part } = parseReference(reference);
  const picture = await deps.evidence.read(sessionId, id);
  if (!picture) return undefined;
  if (!picture.bytes) return { type: "text", text: `[picture ${id} cannot be shown: ${MISSING_BYTES}]` };
  const copy = await copyForModel({ bytes: picture.bytes, mediaType }, part);
  if (!copy) return { type: "text", text: `[picture ${id} cannot be shown: it is broken]` };
  const data = Buffer.from(copy.bytes).toString("base64");
  return { type: "file", mediaType: copy.mediaType, data: { type: "data", data } };
}
