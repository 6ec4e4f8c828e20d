import type { PageKit } from "../page-kit/page-kit.ts";

/** What an element is, apart from its role and name. Box in CSS pixels of its own frame's viewport. */
export type ElementDescription = {
  tag: string;
  selector: string | null;
  box: { x: number; y: number; width: number; height: number };
  isVisible: boolean;
  isOverlay: boolean;
  /** Made by the browser inside an input, a video or the like; tools and scripts cannot use it. */
  isBrowserMade: boolean;
  text: string;
  /** Role and name by simple rules, for elements that the accessibility tree leaves out. */
  fallbackRole: string;
  fallbackName: string;
  value?: string;
  required?: true;
  disabled?: true;
  checked?: boolean | "mixed";
  href?: string;
  options?: string[];
};

/** Describes elements inside the page. Sent as source: uses nothing from outside its own body. Passwords are never read. */
export function describeElements(kit: PageKit, nodes: Node[]): ElementDescription[] {
  const tidy = (text: string | null | undefined, max: number) => {
    const tidied = (text ?? "").replace(/\s+/g, " ").trim();
    return tidied.length > max ? `${tidied.slice(0, max - 1)}…` : tidied;
  };
  const isInside = (element: Element, hosts: string) => {
    const root = element.getRootNode();
    return root instanceof ShadowRoot && root.host.matches(hosts);
  };
  const roles: Record<string, string> = {
    a: "link",
    button: "button",
    select: "combobox",
    textarea: "textbox",
    img: "image",
    nav: "navigation",
    main: "main",
    form: "form",
    table: "table",
    ul: "list",
    ol: "list",
    li: "listitem",
    dialog: "dialog",
    iframe: "Iframe",
    h1: "heading",
    h2: "heading",
    h3: "heading",
    h4: "heading",
    h5: "heading",
    h6: "heading",
    p: "paragraph",
  };
  const inputRoles: Record<string, string> = {
    button: "button",
    submit: "button",
    reset: "button",
    image: "button",
    checkbox: "checkbox",
    radio: "radio",
    range: "slider",
    number: "spinbutton",
    search: "searchbox",
    hidden: "generic",
  };
  return nodes.map((node) => {
    const element = node instanceof Element ? node : (node.parentElement ?? document.documentElement);
    const { x, y, width, height } = element.getBoundingClientRect();
    const round = (value: number) => Math.round(value * 10) / 10;
    const described: ElementDescription = {
      tag: element.localName,
      selector: kit.selectorOf(element),
      box: { x: round(x), y: round(y), width: round(width), height: round(height) },
      isVisible: kit.isVisible(element),
      isOverlay: kit.isOverlay(element),
      isBrowserMade: isInside(element, "input, textarea, select, video, audio, details, meter, progress"),
      text: tidy(
        // biome-ignore lint/performance/useDomNodeTextContent: what is rendered is what is wanted.
        (element instanceof HTMLElement && element.innerText) || element.textContent,
        160,
      ),
      fallbackRole: element.getAttribute("role") ?? roles[element.localName] ?? "generic",
      fallbackName: tidy(
        element.getAttribute("aria-label") ?? element.getAttribute("alt") ?? element.getAttribute("title"),
        160,
      ),
    };
    if (element instanceof HTMLInputElement) {
      described.fallbackRole = element.getAttribute("role") ?? inputRoles[element.type] ?? "textbox";
      const isSecret = element.type === "password" || /password/.test(element.autocomplete);
      if (element.type === "checkbox" || element.type === "radio") {
        described.checked = element.indeterminate ? "mixed" : element.checked;
      } else if (!isSecret && element.value) described.value = tidy(element.value, 500);
      described.fallbackName ||= tidy(element.labels?.[0]?.textContent ?? element.placeholder, 160);
    } else if (element instanceof HTMLTextAreaElement) {
      if (element.value) described.value = tidy(element.value, 500);
      described.text = "";
      described.fallbackName ||= tidy(element.labels?.[0]?.textContent ?? element.placeholder, 160);
    } else if (element instanceof HTMLSelectElement) {
      described.value = tidy(element.selectedOptions[0]?.label, 500);
      described.options = [...element.options].slice(0, 50).map((option) => tidy(option.label, 100));
      described.text = "";
      described.fallbackName ||= tidy(element.labels?.[0]?.textContent, 160);
    } else if (element instanceof HTMLElement && element.isContentEditable) {
      described.value = described.text;
    }
    const aria = (name: string) => element.getAttribute(`aria-${name}`);
    const ariaChecked = aria("checked") ?? aria("pressed");
    if (described.checked === undefined && ariaChecked) {
      described.checked = ariaChecked === "mixed" ? "mixed" : ariaChecked === "true";
    }
    if (("required" in element && element.required === true) || aria("required") === "true")
      described.required = true;
    if (element.matches(":disabled") || aria("disabled") === "true") described.disabled = true;
    if (element instanceof HTMLAnchorElement && element.href) described.href = tidy(element.href, 500);
    if (!described.fallbackName && ["link", "button", "heading"].includes(described.fallbackRole)) {
      described.fallbackName = described.text;
    }
    return described;
  });
}
