import type { PageKit } from "../page-kit/page-kit.ts";

/** What to look for in one frame; the filters combine. */
type ElementQuery = {
  selector: string | null;
  role: string | null;
  text: string | null;
  includeHidden: boolean;
  /** Attributes to show. */
  attributes: string[];
  limit: number;
};

/** One element; the box is in CSS pixels of its own frame's viewport. */
export type FoundElement = {
  /** Role or tag, name, ref, states and the attributes that were asked for. */
  label: string;
  text: string | null;
  selector: string | null;
  box: { x: number; y: number; width: number; height: number };
  isVisible: boolean;
};

/** Finds and describes elements of a frame. Runs inside the page, sent as source: uses nothing from outside its own body. */
export function findOnPage(kit: PageKit, query: ElementQuery): { total: number; elements: FoundElement[] } {
  const silent = "script, style, noscript, template, head, head *, html, [data-agent-session-overlay]";
  const named = "a[href], button, label, summary, option, h1, h2, h3, h4, h5, h6, [role]";
  const browserMade = "input, textarea, select, video, audio, details, meter, progress";
  // Where inline elements meet, blanks come and go: they do not count in a comparison.
  const squash = (text: string | null | undefined) => (text ?? "").toLowerCase().replace(/\s+/g, "");
  const text = query.text === null ? null : squash(query.text);
  const role = query.role === null ? null : query.role.toLowerCase().replace(/^image$/, "img");

  const says = (element: Element): boolean =>
    text === null ||
    squash(kit.nameOf(element)).includes(text) ||
    squash(kit.contentOf(element)).includes(text);
  /** Of the elements around a text only the innermost counts, or the control or heading that it names. */
  const findByText = (wanted: string): Element[] => {
    const found = new Set<Element>();
    for (const element of kit.queryAll("*")) {
      if (element.matches(silent)) continue;
      const own = ["aria-label", "alt", "title", "placeholder"]
        .map((name) => element.getAttribute(name))
        .join("\n");
      const value =
        "value" in element && typeof element.value === "string" && !kit.isSecret(element)
          ? element.value
          : "";
      if (squash(`${own}\n${value}`).includes(wanted)) found.add(element);
      if (!squash(element.textContent).includes(wanted)) continue;
      if ([...element.children].some((child) => squash(child.textContent).includes(wanted))) continue;
      const around = element.closest(named);
      found.add(around && squash(kit.nameOf(around)).includes(wanted) ? around : element);
    }
    for (const label of [...found])
      if (label instanceof HTMLLabelElement && label.control) found.add(label.control);
    return [...found];
  };
  const candidates = (): Element[] => {
    if (query.selector !== null) return kit.queryAll(query.selector).filter(says);
    if (role === null && text !== null) return findByText(text);
    return kit.queryAll("*").filter((element) => !element.matches(silent));
  };
  const matching = candidates().filter((element) => {
    if (role !== null && (kit.roleOf(element) ?? "generic") !== role) return false;
    if (role !== null && query.selector === null && !says(element)) return false;
    const root = element.getRootNode();
    if (root instanceof ShadowRoot && root.host.matches(browserMade)) return false;
    return query.includeHidden || kit.isVisible(element);
  });

  const describe = (element: Element): FoundElement => {
    const { x, y, width, height } = element.getBoundingClientRect();
    const name = kit.nameOf(element);
    const content = element.matches("input, select, textarea") ? "" : kit.contentOf(element);
    const tag = /^[a-z][a-z0-9-]*$/.test(element.localName) ? element.localName : "element";
    const label = kit.describe(element, kit.roleOf(element) ?? tag, name, kit.refOf(element));
    return {
      label: label + kit.attributesOf(element, query.attributes),
      text: content === name || content === "" ? null : kit.quote(content, 160),
      selector: kit.selectorOf(element),
      box: { x, y, width: Math.round(width), height: Math.round(height) },
      isVisible: kit.isVisible(element),
    };
  };
  return { total: matching.length, elements: matching.slice(0, query.limit).map(describe) };
}
