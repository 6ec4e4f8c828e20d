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

/** Renders an element. `content` is HTML: the caller has escaped it. */
export const element = (name: string, content: string, attributes = ""): string =>
  `<${name}${attributes === "" ? "" : ` ${attributes}`}>${content}</${name}>`;

/** Renders plain text with its line breaks, in the direction of its script. */
export const plainText = (text: string): string => `<div class="plain" dir="auto">${escapeHtml(text)}</div>`;

/** Renders a foldable part. `summary` and `content` are HTML. */
export const folded = (summary: string, content: string, isOpen = false): string =>
  `<details${isOpen ? " open" : ""}><summary>${summary}</summary>${content}</details>`;
