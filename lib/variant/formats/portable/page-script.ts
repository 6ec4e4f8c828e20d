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
 * Wraps a page's `js` in a script that a tool runs when it applies the changes. As in the runtime, `js` is a function body
 * that runs once in each document, after the document has been parsed.
 */
export const wrapPageScript = (js: string): string => (js.trim() === "" ? "" : `${BEGIN}${js}${END}`);

/** Reverts `wrapPageScript`. Returns any other script unchanged. */
export function unwrapPageScript(js: string): string {
  const isOurs = js.startsWith(BEGIN) && js.endsWith(END) && js.length >= BEGIN.length + END.length;
  return isOurs ? js.slice(BEGIN.length, -END.length) : js;
}
