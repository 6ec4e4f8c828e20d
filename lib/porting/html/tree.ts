import { escapeHtml, folded } from "./escape.ts";

const DEPTH_MAX = 12;
const OPEN_DEPTH = 3;
const NODES_MAX = 5_000;

/**
 * Renders a JSON value as a list that people can fold and unfold. Parts after 5,000 values or below 12 levels are
 * rendered as JSON.
 */
export function renderTree(value: unknown): string {
  let nodes = 0;
  const render = (item: unknown, depth: number): string => {
    nodes += 1;
    if (typeof item !== "object" || item === null) return scalar(item);
    const entries = Object.entries(item);
    const isList = Array.isArray(item);
    if (entries.length === 0) return isList ? "[]" : "{}";
    if (depth >= DEPTH_MAX || nodes > NODES_MAX) return `<code>${escapeHtml(JSON.stringify(item))}</code>`;
    const lines = entries.map(
      ([key, inner]) =>
        `<li><span class="key">${escapeHtml(isList ? String(Number(key) + 1) : key)}:</span> ${render(inner, depth + 1)}</li>`,
    );
    const list = `<ul class="tree${depth === 0 ? " root" : ""}">${lines.join("")}</ul>`;
    const size = `${entries.length} ${isList ? "entries" : "fields"}`;
    return depth === 0 ? list : folded(`<span class="soft">${size}</span>`, list, depth < OPEN_DEPTH);
  };
  return render(value, 0);
}

function scalar(value: unknown): string {
  if (typeof value === "string")
    return value === "" ? '<span class="soft">empty text</span>' : escapeHtml(value);
  return `<code>${escapeHtml(String(JSON.stringify(value)))}</code>`;
}
