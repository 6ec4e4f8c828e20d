import type { ExportedEvidence } from "../format.ts";
import type { SessionContent } from "../read-content.ts";
import { EVIDENCE_BYTES_MAX } from "../write-json.ts";
import { element, escapeHtml } from "./escape.ts";
import { renderTime } from "./render-message.ts";

const PICTURES = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);

/** The pictures of an HTML export: each is in it once, 20 MiB in all. */
export type Pictures = {
  /** A picture as a figure the first time, then a link to it. What the file does not have is named as such. */
  show: (pointer: { id: string; title: string }) => Promise<string>;
  /** Figures of the pictures that were not shown before; names what the file does not have. */
  rest: () => AsyncIterable<string>;
};

export function createPictures({ evidence, previews, readData, leftOut }: SessionContent): Pictures {
  const captions = new Map(
    previews.flatMap(({ evidence: picture, ...preview }) => (picture ? [[picture.id, preview]] : [])),
  );
  const byId = new Map(evidence.map((item) => [item.id, item]));
  const tried = new Set<string>();
  const shown = new Set<string>();
  let left = EVIDENCE_BYTES_MAX;

  async function render(item: ExportedEvidence): Promise<string | undefined> {
    if (!PICTURES.has(item.mediaType) || tried.has(item.id)) return undefined;
    tried.add(item.id);
    const fits = item.sizeBytes <= left;
    const data = fits ? await readData(item) : undefined;
    if (data === undefined) {
      const reason = fits ? "The picture's file is missing." : "The file carries at most 20 MiB of pictures.";
      leftOut.push({ field: item.title, reason });
      return undefined;
    }
    left -= item.sizeBytes;
    shown.add(item.id);
    const preview = captions.get(item.id);
    const title = preview ? [preview.title, preview.caption].filter(Boolean).join(": ") : item.title;
    const about = `${escapeHtml(title)}${item.url === null ? "" : `, ${escapeHtml(item.url)}`}, ${renderTime(item.createdAt)}`;
    return `<figure id="${escapeHtml(item.id)}"><img src="${data}" alt="${escapeHtml(title)}"><figcaption>${about}</figcaption></figure>\n`;
  }

  return {
    async show({ id, title }) {
      const name = escapeHtml(title || id);
      if (shown.has(id))
        return element(
          "p",
          `Evidence: <a href="#${escapeHtml(id)}">${name}</a>, shown above`,
          'class="soft"',
        );
      const item = byId.get(id);
      if (!item && !tried.has(id)) {
        tried.add(id);
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

/** Previews first: where the bound is reached, they matter most. */
const inOrder = (evidence: ExportedEvidence[], previewed: Set<string>): ExportedEvidence[] =>
  evidence.toSorted((one, other) => Number(previewed.has(other.id)) - Number(previewed.has(one.id)));
