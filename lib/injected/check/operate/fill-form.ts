import type { Dom, PageElement } from "#lib/dom/make-dom.ts";

/**
 * Fills the fields of a form that are empty or invalid with valid, harmless values, chooses options, and checks the boxes
 * that are required or ask for consent.
 */
export function fillForm(dom: Dom, form: PageElement): void {
  const FIELDS_MAX = 100;
  const CONSENT =
    /agree|accept|consent|terms|conditions|privacy|gdpr|polic(y|ies)|confirm|\b(agb|tos)\b|zustimm|einverstanden|akzeptier|datenschutz|bedingungen|accepte|confidentialit|acepto|privacidad|accetto/i;
  const VALUES: Record<string, string> = {
    email: "visitor@example.com",
    tel: "0301234567",
    url: "https://example.com/",
    date: "2030-01-15",
    "datetime-local": "2030-01-15T12:00",
    month: "2030-01",
    week: "2030-W03",
    time: "12:00",
    password: "Harmless-1234",
  };
  const read = (element: PageElement, name: string): unknown => dom.property(element, name);
  const write = (element: PageElement, name: string, value: string | boolean) => {
    Reflect.set(Object.getPrototypeOf(element) as object, name, value, element);
    // Frameworks listen to these events. An event of the check's world is not trusted, which they do not ask.
    for (const type of ["input", "change"])
      (element as unknown as EventTarget).dispatchEvent(new Event(type, { bubbles: true, composed: true }));
  };
  const textFor = (field: PageElement, type: string): string => {
    if (type === "number" || type === "range") return String(read(field, "min") || "1");
    const wanted = VALUES[type] ?? "Test";
    const min = Number(dom.getAttribute(field, "minlength") ?? 0);
    const max = Number(dom.getAttribute(field, "maxlength") ?? 1_000);
    return wanted.padEnd(Math.min(min, 200), "x").slice(0, max > 0 ? max : 1_000);
  };
  const nameOf = (field: PageElement) => dom.getAttribute(field, "name");
  /** Whether a box must be checked. Many pages demand consent only in their script. */
  const isDemanded = (box: PageElement): boolean => {
    if ((read(box, "validity") as ValidityState).valueMissing) return true;
    if (dom.getAttribute(box, "aria-required") === "true") return true;
    const labels = read(box, "labels");
    const texts = labels
      ? Array.from(labels as ArrayLike<PageElement>).map((each) => dom.textContent(each))
      : [];
    return CONSENT.test([dom.id(box), nameOf(box), dom.getAttribute(box, "aria-label"), ...texts].join(" "));
  };
  const elements = read(form, "elements");
  const fields = (elements ? Array.from(elements as ArrayLike<PageElement>) : []).slice(0, FIELDS_MAX);
  for (const field of fields) {
    const name = dom.localName(field);
    const type = String(read(field, "type") ?? "");
    if (dom.matches(field, ":disabled, [readonly], [type=hidden], [type=file]")) continue;
    if (type === "checkbox") {
      if (isDemanded(field) && read(field, "checked") !== true) write(field, "checked", true);
      continue;
    }
    if (type === "radio") {
      const group = fields.filter((each) => read(each, "type") === type && nameOf(each) === nameOf(field));
      if (!group.some((each) => read(each, "checked") === true)) write(field, "checked", true);
      continue;
    }
    if (name === "select") {
      const options = dom.querySelectorAll(field, "option:not(:disabled)");
      const value = options.map((option) => String(read(option, "value") ?? "")).find((each) => each !== "");
      if (read(field, "value") === "" && value !== undefined) write(field, "value", value);
      continue;
    }
    const isText =
      name === "textarea" || (name === "input" && !/^(submit|image|button|reset|color)$/.test(type));
    const { valid } = read(field, "validity") as ValidityState;
    if (isText && (!valid || read(field, "value") === "")) write(field, "value", textFor(field, type));
  }
}
