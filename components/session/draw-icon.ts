import type { Tone } from "#lib/page/labels/state-words.ts";

/** The colors of the dot. An icon cannot use the variables of the page's style sheet. */
const COLORS: Record<Tone, string> = {
  quiet: "#8b8f98",
  busy: "#2f6bff",
  attention: "#e08a00",
  good: "#1f9d55",
  bad: "#d6362b",
};

/** Draws the icon of the service with a dot in the color of a state. @returns the icon as a `data:` URL. */
export function drawIcon(tone: Tone): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none"><rect stroke="#5b83e8" x="3.5" y="5.5" width="25" height="21" rx="4.5" stroke-width="3"/><path fill="#5b83e8" d="M13 12.2v10.1c0 .7.8 1 1.3.5l2.5-2.5h3.7c.7 0 1-.8.5-1.3l-6.9-7.3c-.4-.5-1.1-.2-1.1.5Z"/><circle cx="24" cy="24" r="8" fill="${COLORS[tone]}"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
