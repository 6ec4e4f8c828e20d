import type { PageElement } from "#lib/dom/make-dom.ts";
import type { PageKit } from "../page-kit/page-kit.ts";

/** A query for elements of one frame; an element must match all filters. */
type ElementQuery = {
  selector: string | null;
  role: string | null;
  text: string | null;
  includeHidden: boolean;
  /** Names of the attributes to include in each label. */
  attributes: string[];
  limit: number;
};

/** One found element. Its box is in CSS pixels of the viewport of its own frame. */
export type FoundElement = {
  /** One line with the element's role (or tag), name, ref, states and the requested attributes. */
  label: string;
  text: string | null;
  selector: string | null;
  box: { x: number; y: number; width: number; height: number };
  isVisible: boolean;
};

/** Finds and describes elements of a frame. */
export function findOnPage(kit: PageKit, query: ElementQuery): { total: number; elements: FoundElement[] } {
  const { dom } = kit;
  const skipped = "script, style, noscript, template, head, head *, html, [data-agent-session-overlay]";
  const nameable = "a[href], button, label, summary, option, h1, h2, h3, h4, h5, h6, [role]";
  const builtIn = "input, textarea, select, video, audio, details, meter, progress";
  // White space between inline elements varies, so comparisons ignore it.
  const normalize = (text: string | null | undefined) => (text ?? "").toLowerCase().replace(/\s+/g, "");
  const text = query.text === null ? null : normalize(query.text);
  const role = query.role === null ? null : query.role.toLowerCase().replace(/^image$/, "img");

  const hasText = (element: PageElement): boolean =>
    text === null ||
    normalize(kit.nameOf(element)).includes(text) ||
    normalize(kit.contentOf(element)).includes(text);
  /**
   * Finds the innermost elements that contain a text. If such an element is inside a control or heading whose name
   * contains the text, returns that control or heading instead. Also finds the elements that have the text in an
   * attribute such as `alt`, or in their value (except passwords). For a found label, also returns the label's field.
   */
  const findByText = (searched: string): PageElement[] => {
    const found = new Set<PageElement>();
    for (const element of kit.queryAll("*")) {
      if (dom.matches(element, skipped)) continue;
      const own = ["aria-label", "alt", "title", "placeholder"]
        .map((name) => dom.getAttribute(element, name))
        .join("\n");
      const value =
        "value" in element && typeof element.value === "string" && !kit.isSecret(element)
          ? element.value
          : "";
      if (normalize(`${own}\n${value}`).includes(searched)) found.add(element);
      if (!normalize(dom.textContent(element)).includes(searched)) continue;
      if (dom.children(element).some((child) => normalize(dom.textContent(child)).includes(searched)))
        continue;
      const around = dom.closest(element, nameable);
      found.add(around && normalize(kit.nameOf(around)).includes(searched) ? around : element);
    }
    for (const label of [...found])
      if (label instanceof HTMLLabelElement && label.control) found.add(label.control);
    return [...found];
  };
  const candidates = (): PageElement[] => {
    if (query.selector !== null) return kit.queryAll(query.selector).filter(hasText);
    if (role === null && text !== null) return findByText(text);
    return kit.queryAll("*").filter((element) => !dom.matches(element, skipped));
  };
  const matching = candidates().filter((element) => {
    if (role !== null && (kit.roleOf(element) ?? "generic") !== role) return false;
    if (role !== null && query.selector === null && !hasText(element)) return false;
    const root = dom.getRootNode(element);
    if (root instanceof ShadowRoot && root.host.matches(builtIn)) return false;
    return query.includeHidden || kit.isVisible(element);
  });

  const describe = (element: PageElement): FoundElement => {
    const { x, y, width, height } = dom.getBoundingClientRect(element);
    const name = kit.nameOf(element);
    const content = dom.matches(element, "input, select, textarea") ? "" : kit.contentOf(element);
    const tag = /^[a-z][a-z0-9-]*$/.test(dom.localName(element)) ? dom.localName(element) : "element";
    const label = kit.describe(element, kit.roleOf(element) ?? tag, name, kit.refOf(element));
    return {
      label: label + kit.attributesOf(element, query.attributes, name),
      text: content === name || content === "" ? null : kit.quote(content, 160),
      selector: kit.selectorOf(element),
      box: { x, y, width: Math.round(width), height: Math.round(height) },
      isVisible: kit.isVisible(element),
    };
  };
  return { total: matching.length, elements: matching.slice(0, query.limit).map(describe) };
}
