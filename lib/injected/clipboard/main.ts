/** Copying and pasting in a page's document, as the service calls it. It runs in an isolated world. */
import type { PageElement, PageRoot } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";

/** What was copied. `html` is null if the page has no formatting for it. */
type Copied = { text: string; html: string | null };

/** An item of a paste. The bytes of a file are in base64. */
type Item =
  | { kind: "text"; type: string; text: string }
  | { kind: "file"; type: string; name: string; base64: string };

let copied: Copied | null = null;
let charsMax = 0;

/** Returns the element with the focus, also in open shadow roots. */
export function focusedElement(): PageElement | null {
  let root: PageRoot = document;
  let focused: PageElement | null = null;
  for (let depth = 0; depth < 32; depth += 1) {
    // The cast is safe: documents and shadow roots define this property.
    const next = dom.property(root, "activeElement") as PageElement | null;
    if (!next) break;
    focused = next;
    const inner = dom.shadowRoot(next);
    if (!inner) break;
    root = inner;
  }
  return focused;
}

/**
 * Waits for the next copy or cut of the document and takes it over. The page gets an event with a clipboard of its own,
 * so that neither the Chromium's clipboard nor what other pages have put into it is involved. Content of more than `max`
 * characters is not copied, and then not cut either.
 */
export function beginCopy(max: number): void {
  endCopy();
  charsMax = max;
  for (const type of ["copy", "cut"]) window.addEventListener(type, takeOver, true);
}

/** Ends what {@link beginCopy} began. Returns what was copied; null if nothing was. */
export function endCopy(): Copied | null {
  for (const type of ["copy", "cut"]) window.removeEventListener(type, takeOver, true);
  const result = copied;
  copied = null;
  return result;
}

function takeOver(event: Event): void {
  if (!event.isTrusted) return;
  for (const type of ["copy", "cut"]) window.removeEventListener(type, takeOver, true);
  event.preventDefault();
  event.stopImmediatePropagation();
  const clipboardData = new DataTransfer();
  const isHandled = !send(event.composedPath()[0] ?? document, event.type, clipboardData);
  const content = isHandled ? readData(clipboardData) : readSelection();
  copied = content && content.text.length + (content.html?.length ?? 0) <= charsMax ? content : null;
  if (event.type === "cut" && !isHandled && copied) execute("delete");
}

/** Sends a clipboard event. Returns false if the page has handled it. */
const send = (target: EventTarget, type: string, clipboardData: DataTransfer): boolean =>
  EventTarget.prototype.dispatchEvent.call(
    target,
    new ClipboardEvent(type, { clipboardData, bubbles: true, cancelable: true, composed: true }),
  );

const execute = (command: string, value?: string): boolean =>
  Document.prototype.execCommand.call(document, command, false, value);

function readData(data: DataTransfer): Copied | null {
  const html = data.getData("text/html");
  const text = data.getData("text/plain");
  return text === "" && html === "" ? null : { text, html: html === "" ? null : html };
}

function readSelection(): Copied | null {
  const field = focusedElement();
  const inField = field && readFieldSelection(field);
  if (inField !== null && inField !== undefined) return inField === "" ? null : { text: inField, html: null };
  const selection = window.getSelection();
  if (!selection || selection.rangeCount === 0 || selection.isCollapsed) return null;
  const part = dom.createElement(document, "div");
  dom.append(part, selection.getRangeAt(0).cloneContents());
  const text = selection.toString();
  const html = dom.innerHTML(part);
  return text === "" && html === "" ? null : { text, html };
}

/** Returns what is selected in a text field; null if the element is none. What is in a password field is never copied. */
function readFieldSelection(field: PageElement): string | null {
  if (!["input", "textarea"].includes(dom.localName(field))) return null;
  const start = dom.property(field, "selectionStart");
  const end = dom.property(field, "selectionEnd");
  if (typeof start !== "number" || typeof end !== "number") return null;
  if (dom.property(field, "type") === "password") return "";
  return String(dom.property(field, "value")).slice(start, end);
}

/**
 * Pastes at the focus: sends a paste event with all items. If the page does not handle it, inserts the HTML in an element
 * that can have formatting. Returns the text that the service is to insert instead; null if there is nothing left to do.
 */
export function paste(items: readonly Item[]): string | null {
  const clipboardData = new DataTransfer();
  for (const item of items) {
    if (item.kind === "text") clipboardData.setData(item.type, item.text);
    else clipboardData.items.add(new File([toBytes(item.base64)], item.name, { type: item.type }));
  }
  const focused = focusedElement();
  if (!send((focused ?? document) as EventTarget & typeof focused, "paste", clipboardData)) return null;
  const html = items.find((item) => item.kind === "text" && item.type === "text/html");
  const text = items.find((item) => item.kind === "text" && item.type === "text/plain");
  if (html?.kind === "text" && focused && dom.isContentEditable(focused)) {
    const safe = withoutScripts(html.text);
    if (safe !== null && execute("insertHTML", safe)) return null;
  }
  return text?.kind === "text" && text.text !== "" ? text.text : null;
}

/** Removes what could run scripts, as browsers do when they paste. Null if this Chromium cannot. */
function withoutScripts(html: string): string | null {
  const part = dom.createElement(document, "div");
  const setHtml = Reflect.get(Element.prototype, "setHTML") as ((html: string) => void) | undefined;
  if (!setHtml) return null;
  setHtml.call(part, html);
  return dom.innerHTML(part);
}

const toBytes = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
