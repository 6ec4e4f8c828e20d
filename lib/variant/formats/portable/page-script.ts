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
 * Wraps a page's `js`, which is a function body, in a script that other tools can run each time they apply the changes.
 * As in the runtime, `js` then runs only once in each document, after the document was parsed.
 */
export const wrapPageScript = (js: string): string => (js.trim() === "" ? "" : `${BEGIN}${js}${END}`);

/** Returns the `js` that `wrapPageScript` has wrapped. Returns any other script unchanged. */
export function unwrapPageScript(js: string): string {
  const isOurs = js.startsWith(BEGIN) && js.endsWith(END) && js.length >= BEGIN.length + END.length;
  return isOurs ? js.slice(BEGIN.length, -END.length) : js;
}
