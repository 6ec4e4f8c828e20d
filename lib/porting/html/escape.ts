const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as HTML, for elements and quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (each) => ENTITIES[each] ?? each);

/** An element of the document around HTML that was escaped before. */
export const element = (name: string, content: string, attributes = ""): string =>
  `<${name}${attributes === "" ? "" : ` ${attributes}`}>${content}</${name}>`;

/** Text that is shown as it is written, in the direction of its own script. */
export const plainText = (text: string): string => `<div class="plain" dir="auto">${escapeHtml(text)}</div>`;

/** A part that can be folded. */
export const folded = (summary: string, content: string, isOpen = false): string =>
  `<details${isOpen ? " open" : ""}><summary>${summary}</summary>${content}</details>`;
