import type { ModelMessage, ToolResultPart } from "ai";
import { MISSING_BYTES } from "#lib/evidence/evidence.ts";
import { copyForModel, type PicturePart } from "#lib/evidence/model-copy.ts";
import type { ModelAccess } from "#lib/model/model-access.ts";
import { readReference, writeReference } from "#lib/session/transcript/picture-reference.ts";
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

type Output = ToolResultPart["output"];
type ContentItem = Extract<Output, { type: "content" }>["value"][number];
/** What replaces a reference: a picture or a line. */
type Shown =
  | { type: "text"; text: string }
  | { type: "file"; mediaType: string; data: { type: "data"; data: string } };

/**
 * Creates a reference to a picture, or to a part of it, for a recorded message. The bytes are in the evidence store.
 */
export const referToPicture = (evidenceId: string, mediaType: string, part?: PicturePart): ContentItem => ({
  type: "text",
  text: writeReference({ id: evidenceId, mediaType, ...(part && { part }) }),
});

/**
 * Replaces references to the newest pictures, in results of tools and in messages of callers, by the pictures. To save
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
  const shown = new Map<ContentItem, Shown>();
  const hidden = countHidden(references.length, picturesShown(deps.model));
  for (const reference of references.slice(hidden)) {
    const picture = await readPicture(deps, sessionId, reference);
    if (picture) shown.set(reference, picture);
  }
  const show = <Item extends ContentItem>(item: Item): Item | Shown =>
    isReference(item) ? (shown.get(item) ?? describeHidden(item)) : item;
  return messages.map((message) => {
    if (isWithPictures(message)) return { ...message, content: message.content.map(show) };
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
  messages.some(
    (message) => isWithPictures(message) || (message.role === "tool" && message.content.some(hasPicture)),
  );

type UserMessage = Extract<ModelMessage, { role: "user" }>;
type MessageWithPictures = UserMessage & { content: { type: "text"; text: string }[] };

/** Whether a message of a caller refers to pictures. Recorded messages of callers have only texts. */
const isWithPictures = (message: ModelMessage): message is MessageWithPictures =>
  message.role === "user" &&
  typeof message.content !== "string" &&
  message.content.some((part) => part.type === "text" && isReference(part));

const hasPicture = (part: { type: string; output?: Output }) =>
  part.type === "tool-result" && part.output?.type === "content" && part.output.value.some(isReference);

type Reference = Extract<ContentItem, { type: "text" }>;

const isReference = (item: ContentItem): item is Reference =>
  item.type === "text" && readReference(item.text) !== undefined;

/** Returns the items of all results in a message, in their order. */
const itemsOf = (message: ModelMessage): ContentItem[] =>
  isWithPictures(message)
    ? message.content
    : message.role === "tool"
      ? message.content.flatMap((part) =>
          part.type === "tool-result" && part.output.type === "content" ? part.output.value : [],
        )
      : [];

const describeHidden = (reference: Reference): Shown => ({
  type: "text",
  text: `[picture ${readReference(reference.text)?.id}, not shown again]`,
});

/** Returns the picture, or a line that says why it cannot be shown; undefined if it is no longer stored. */
async function readPicture(
  deps: TurnDeps,
  sessionId: string,
  reference: Reference,
): Promise<Shown | undefined> {
  const { id = "", mediaType = "", part } = readReference(reference.text) ?? {};
  const picture = await deps.evidence.read(sessionId, id);
  if (!picture) return undefined;
  if (!picture.bytes) return { type: "text", text: `[picture ${id} cannot be shown: ${MISSING_BYTES}]` };
  const copy = await copyForModel({ bytes: picture.bytes, mediaType }, part);
  if (!copy) return { type: "text", text: `[picture ${id} cannot be shown: it is broken]` };
  const data = Buffer.from(copy.bytes).toString("base64");
  return { type: "file", mediaType: copy.mediaType, data: { type: "data", data } };
}
