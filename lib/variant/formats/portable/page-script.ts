const BEGIN = `((run) => {
  const source = String(run);
  const scripts = (window.__agentSessionScripts ??= new Set());
  const start = () => scripts.has(source) || (scripts.add(source), run());
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start, { once: true });
  else queueMicrotask(start);
})(function () {
`;
const END = `
});`;

/**
 * Makes a script of a page's `js` that a tool runs when it applies the changes. As in the runtime, it is a function body
 * that runs once in each document, after the document has been parsed.
 */
export const wrapPageScript = (js: string): string => (js.trim() === "" ? "" : `${BEGIN}${js}${END}`);

/** The script that `wrapPageScript` was given; others remain. */
export function unwrapPageScript(js: string): string {
  const isOurs = js.startsWith(BEGIN) && js.endsWith(END) && js.length >= BEGIN.length + END.length;
  return isOurs ? js.slice(BEGIN.length, -END.length) : js;
}
