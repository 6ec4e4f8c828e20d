import type { ExportedEvidence } from "../format.ts";
import type { SessionContent } from "../read-content.ts";
import { EVIDENCE_BYTES_MAX } from "../write-json.ts";
import { element, escapeHtml } from "./escape.ts";
import { renderTime } from "./render-message.ts";

const PICTURES = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);

/**
 * Renders the pictures of an HTML export. Each picture is embedded at most once, and all pictures together have at most
 * 20 MiB.
 */
export type Pictures = {
  /**
   * Renders a picture as a figure the first time, and as a link to that figure afterwards. Renders only the name of
   * evidence that is not a picture or cannot be embedded.
   */
  show: (pointer: { id: string; title: string }) => Promise<string>;
  /**
   * Renders the pictures that `show` has not rendered. After that, `leftOut` lists all evidence that is not embedded.
   */
  rest: () => AsyncIterable<string>;
};

export function createPictures({ evidence, previews, readData, leftOut }: SessionContent): Pictures {
  const captions = new Map(
    previews.flatMap(({ evidence: picture, ...preview }) => (picture ? [[picture.id, preview]] : [])),
  );
  const byId = new Map(evidence.map((item) => [item.id, item]));
  const handledIds = new Set<string>();
  const shownIds = new Set<string>();
  let bytesLeft = EVIDENCE_BYTES_MAX;

  async function render(item: ExportedEvidence): Promise<string | undefined> {
    if (!PICTURES.has(item.mediaType) || handledIds.has(item.id)) return undefined;
    handledIds.add(item.id);
    const fits = item.sizeBytes <= bytesLeft;
    const data = fits ? await readData(item) : undefined;
    if (data === undefined) {
      const reason = fits ? "The picture's file is missing." : "The file carries at most 20 MiB of pictures.";
      leftOut.push({ field: item.title, reason });
      return undefined;
    }
    bytesLeft -= item.sizeBytes;
    shownIds.add(item.id);
    const preview = captions.get(item.id);
    const title = preview ? [preview.title, preview.caption].filter(Boolean).join(": ") : item.title;
    const about = `${escapeHtml(title)}${item.url === null ? "" : `, ${escapeHtml(item.url)}`}, ${renderTime(item.createdAt)}`;
    return `<figure id="${escapeHtml(item.id)}"><img src="${data}" alt="${escapeHtml(title)}"><figcaption>${about}</figcaption></figure>\n`;
  }

  return {
    async show({ id, title }) {
      const name = escapeHtml(title || id);
      if (shownIds.has(id))
        return element(
          "p",
          `Evidence: <a href="#${escapeHtml(id)}">${name}</a>, shown above`,
          'class="soft"',
        );
      const item = byId.get(id);
      if (!item && !handledIds.has(id)) {
        handledIds.add(id);
        leftOut.push({ field: title || id, reason: "The evidence was deleted." });
      }
      const figure = item && (await render(item));
      return figure ?? element("p", `Evidence: ${name}, not in this file`, 'class="soft"');
    },
    async *rest() {
      for (const item of inOrder(evidence, new Set(captions.keys()))) {
        if (!PICTURES.has(item.mediaType))
          leftOut.push({
            field: item.title,
            reason: `A file of ${item.sizeBytes} bytes; the JSON export can carry it.`,
          });
        const figure = await render(item);
        if (figure !== undefined) yield figure;
      }
    },
  };
}

/**
 * Creates a function that renders the page as a tool call left it, from the session's recording. Returns an empty text for
 * a call without a picture, and when the pictures of earlier calls have used up 20 MiB.
 */
export function createPagesAfterCalls({
  readPageAfter,
  leftOut,
}: Pick<SessionContent, "readPageAfter" | "leftOut">): (callId: string) => Promise<string> {
  let bytesLeft = EVIDENCE_BYTES_MAX;
  return async (callId) => {
    const page = bytesLeft > 0 ? await readPageAfter(callId) : undefined;
    if (!page) return "";
    bytesLeft -= page.sizeBytes;
    if (bytesLeft <= 0)
      leftOut.push({
        field: "The page after later calls",
        reason: "The file carries at most 20 MiB of the recording.",
      });
    const about = `${escapeHtml(page.title || "The page")}, ${escapeHtml(page.url)}, ${renderTime(page.takenAt)}`;
    return `<figure><img src="${page.data}" alt="The page after this call"><figcaption>${about}</figcaption></figure>`;
  };
}

/**
 * Puts the pictures of previews first, because they matter most, and the last pictures may no longer fit into the size
 * limit.
 */
const inOrder = (evidence: ExportedEvidence[], previewed: Set<string>): ExportedEvidence[] =>
  evidence.toSorted((one, other) => Number(previewed.has(other.id)) - Number(previewed.has(one.id)));
