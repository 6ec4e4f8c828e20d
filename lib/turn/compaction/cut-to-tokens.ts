import { estimateTokens } from "./estimate-tokens.ts";

/** A text of at most so many estimated tokens; what is over them is cut off at the end, and said to be. */
export function cutToTokens(text: string, tokensMax: number): string {
  const tokens = estimateTokens(text);
  if (tokens <= tokensMax) return text;
  const note = " […]";
  const kept = Math.max(0, Math.floor((text.length * tokensMax) / tokens) - note.length * 2);
  // Bytes are not spread evenly over a text: shorten until it fits.
  let cut = text.slice(0, kept);
  while (cut.length > 0 && estimateTokens(cut + note) > tokensMax)
    cut = cut.slice(0, Math.floor(cut.length * 0.9));
  return cut.toWellFormed() + note;
}
