const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text for the content of elements and for quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (each) => ENTITIES[each] ?? each);

/** Renders an element. `content` and `attributes` are HTML that the caller has escaped. */
export const element = (name: string, content: string, attributes = ""): string =>
  `<${name}${attributes === "" ? "" : ` ${attributes}`}>${content}</${name}>`;

/** Renders plain text with its line breaks. The browser derives the writing direction from the text. */
export const plainText = (text: string): string => `<div class="plain" dir="auto">${escapeHtml(text)}</div>`;

/** Renders a section that people can fold and unfold. `summary` and `content` are HTML that the caller has escaped. */
export const folded = (summary: string, content: string, isOpen = false): string =>
  `<details${isOpen ? " open" : ""}><summary>${summary}</summary>${content}</details>`;
