import type { ModelMessage, ToolResultPart } from "ai";
import type { ModelAccess } from "#lib/model/model-access.ts";
import type { TurnDeps } from "../turn-deps.ts";

const PICTURES_SHOWN = 4;

/** Returns the maximum number of pictures that are sent to the model with a prompt. */
export const picturesShown = ({ supportsImages }: Pick<ModelAccess, "supportsImages">): number =>
  supportsImages ? PICTURES_SHOWN : 0;

/** Prefix of the text that refers to a picture in a recorded tool message. The picture's evidence id follows it. */
const EVIDENCE_SCHEME = "evidence:";

type Output = ToolResultPart["output"];
type ContentItem = Extract<Output, { type: "content" }>["value"][number];

/** Creates a reference to a picture for a recorded message. The bytes are in the evidence store. */
export const referToPicture = (evidenceId: string, mediaType: string): ContentItem => ({
  type: "text",
  text: `${EVIDENCE_SCHEME}${evidenceId};${mediaType}`,
});

/**
 * Replaces references to the newest pictures by the pictures. To save context, a reference to an older picture becomes
 * a line with the picture's id. A reference to a picture that is no longer stored becomes such a line, too. For a model
 * that does not accept images, all references become lines.
 */
export async function showPictures(
  deps: TurnDeps,
  sessionId: string,
  messages: readonly ModelMessage[],
): Promise<readonly ModelMessage[]> {
  if (!hasPictures(messages)) return messages;
  let left = picturesShown(deps.model);
  const shown: ModelMessage[] = [];
  for (const message of messages.toReversed()) {
    if (message.role !== "tool" || !message.content.some(hasPicture)) {
      shown.push(message);
      continue;
    }
    const content: typeof message.content = [];
    for (const part of message.content) {
      if (!hasPicture(part) || part.type !== "tool-result" || part.output.type !== "content") {
        content.push(part);
        continue;
      }
      const value: ContentItem[] = [];
      for (const item of part.output.value)
        value.push(await showItem(deps, sessionId, item, () => left-- > 0));
      content.push({ ...part, output: { ...part.output, value } });
    }
    shown.push({ ...message, content });
  }
  return shown.toReversed();
}

/** Whether messages refer to pictures, which {@link showPictures} has to read. */
export const hasPictures = (messages: readonly ModelMessage[]): boolean =>
  messages.some((message) => message.role === "tool" && message.content.some(hasPicture));

const hasPicture = (part: { type: string; output?: Output }) =>
  part.type === "tool-result" && part.output?.type === "content" && part.output.value.some(isReference);

const isReference = (item: ContentItem) => item.type === "text" && item.text.startsWith(EVIDENCE_SCHEME);

async function showItem(
  deps: TurnDeps,
  sessionId: string,
  item: ContentItem,
  mayShow: () => boolean,
): Promise<ContentItem> {
  if (item.type !== "text" || !isReference(item)) return item;
  const [id = "", mediaType = "image/png"] = item.text.slice(EVIDENCE_SCHEME.length).split(";");
  const picture = mayShow() ? await deps.evidence.read(sessionId, id) : undefined;
  if (!picture) return { type: "text", text: `[picture ${id}, not shown again]` };
  return {
    type: "file",
    mediaType,
    data: { type: "data", data: Buffer.from(picture.bytes).toString("base64") },
  };
}
