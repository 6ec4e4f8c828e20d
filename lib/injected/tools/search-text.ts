import type { PageElement, PageNode } from "#lib/dom/make-dom.ts";
import type { PageKit } from "../page-kit/page-kit.ts";

/** What to search for in one frame, and how many matches to return at most. */
type TextSearch = { query: string; isRegex: boolean; limit: number };

/** One match. `snippet` contains the match between « and », and the text around it. */
export type TextMatch = { snippet: string; selector: string | null; tag: string; visible: boolean };

/**
 * Searches the text of one frame, including text that is not visible. The texts of inline elements are joined, and each
 * block is a separate line. Alt texts count as text, and so do the values of form fields. If a field is empty, hidden
 * or for a password, its placeholder is searched instead of its value. The search ends at 5,000 matches.
 */
export function searchText(
  kit: PageKit,
  { query, isRegex, limit }: TextSearch,
): { total: number; matches: TextMatch[] } {
  const { dom } = kit;
  const skipped = "script, style, noscript, template, head, datalist, [data-agent-session-overlay]";
  const around = 80;
  const matchesMax = 5_000;
  let text = "";
  const starts: number[] = [];
  const owners: PageElement[] = [];

  const append = (piece: string, owner: PageElement) => {
    const tidied = piece.replace(/\s+/g, " ");
    const joined = /[\s\n]$/.test(text) ? tidied.replace(/^ /, "") : tidied;
    if (!joined) return;
    starts.push(text.length);
    owners.push(owner);
    text += joined;
  };
  const breakLine = () => {
    if (text && !text.endsWith("\n")) text += "\n";
  };
  const isBlock = (element: PageElement) =>
    !/^(inline|contents|ruby)/.test(dom.computedStyle(element).display);

  const visit = (node: PageNode, owner: PageElement) => {
    if (node instanceof Text) return append(node.data, owner);
    if (dom.isElement(node)) {
      if (dom.matches(node, skipped)) return;
      const block = isBlock(node) || dom.localName(node) === "br";
      if (block) breakLine();
      if (node instanceof HTMLInputElement || node instanceof HTMLTextAreaElement) {
        const isSecret = node.type === "hidden" || kit.isSecret(node);
        breakLine();
        append((isSecret ? "" : node.value) || node.placeholder, node);
        breakLine();
        return;
      }
      if (kit.isSecret(node)) return;
      if (node instanceof HTMLImageElement) append(node.alt, node);
      if (node instanceof HTMLSlotElement && node.assignedNodes().length > 0) {
        for (const assigned of node.assignedNodes()) visit(assigned, dom.parentElement(assigned) ?? node);
      } else {
        for (const child of dom.childNodes(dom.shadowRoot(node) ?? node)) visit(child, node);
      }
      if (block) breakLine();
      return;
    }
  };
  const body = dom.body(document);
  if (body) visit(body, body);

  const literal = query
    .trim()
    .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
    .replace(/\s+/g, "\\s+");
  /** Returns a part of the text, without the second half of a character at its start. */
  const wholeFrom = (start: number, end: number) =>
    text.slice(Math.max(0, start), end).replace(/^[\udc00-\udfff]/, "");
  const pattern = new RegExp(isRegex ? query : literal, "gim");
  const found: TextMatch[] = [];
  let total = 0;
  let piece = 0;
  for (const match of text.matchAll(pattern)) {
    if (match[0] === "") continue;
    total++;
    if (total >= matchesMax) break;
    if (found.length >= limit) continue;
    while (piece + 1 < starts.length && (starts[piece + 1] ?? 0) <= match.index) piece++;
    const owner = owners[piece] ?? dom.documentElement(document);
    const end = match.index + match[0].length;
    const before = wholeFrom(match.index - around, match.index);
    found.push({
      snippet:
        `${before}«${kit.beginningOf(match[0], 300)}»${kit.beginningOf(text.slice(end, end + around + 1), around)}`.replace(
          /\n/g,
          " / ",
        ),
      selector: kit.selectorOf(owner),
      tag: dom.localName(owner),
      visible: kit.isVisible(owner),
    });
  }
  return { total, matches: found };
}
