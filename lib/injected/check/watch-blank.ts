import type { PageKit } from "../page-kit/page-kit.ts";

/** Measures how long people see nothing of a document's text, although it is there. */
export type BlankWatch = {
  /** Whether the document has text, and none of it is visible now. */
  isBlank: () => boolean;
  /** How long that has been so in total, in milliseconds. */
  blankMs: () => number;
};

/** Watches the first texts of a document. */
export function watchBlank(newKit: () => PageKit): BlankWatch {
  const POLL_MS = 50;
  const WATCHED_MS = 10_000;
  const TEXTS_MAX = 20;
  const ELEMENTS_MAX = 1_000;
  let total = 0;
  let since: number | null = null;

  const isBlank = (): boolean => {
    const kit = newKit();
    const { dom } = kit;
    const isText = (element: Parameters<typeof kit.isVisible>[0]) =>
      !dom.matches(element, "script, style, noscript, template, option") &&
      dom.childNodes(element).some((node) => node instanceof Text && node.data.trim() !== "");
    let texts = 0;
    for (const element of dom.querySelectorAll(document, "body *").slice(0, ELEMENTS_MAX)) {
      if (!isText(element)) continue;
      if (kit.isVisible(element)) return false;
      texts += 1;
      if (texts === TEXTS_MAX) break;
    }
    return texts > 0;
  };
  const poll = () => {
    const nowMs = performance.now();
    if (since !== null) total += nowMs - since;
    since = isBlank() ? nowMs : null;
    if (nowMs < WATCHED_MS || since !== null) setTimeout(poll, POLL_MS);
  };
  poll();
  return { isBlank, blankMs: () => total };
}

/** Whether the document has text, and none of it is visible now. */
export const isBlank = ({ blank }: { blank: BlankWatch }): boolean => blank.isBlank();
