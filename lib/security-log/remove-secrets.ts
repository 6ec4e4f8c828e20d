const LENGTH_MAX = 500;

/**
 * Patterns of API keys, user tokens, URL queries (which may contain tokens) and credentials in URLs, each with its
 * replacement.
 */
const SECRETS: [RegExp, string][] = [
  [/\bask_[a-z0-9]{1,40}_[\w-]+/gi, "ask_[removed]"],
  [/\bust1\.[\w-]+(\.[\w-]+)?/g, "[user token]"],
  [/\?[^\s"']+/g, "?[removed]"],
  [/\/\/[^\s/@]+@/g, "//[removed]@"],
];

/** Truncates a text, and replaces parts that may be credentials. */
export function removeSecrets(text: string): string {
  let cleaned = text.slice(0, 4 * LENGTH_MAX);
  for (const [pattern, replacement] of SECRETS) cleaned = cleaned.replace(pattern, replacement);
  if (cleaned.length <= LENGTH_MAX) return cleaned;
  // Removes the first half of a character that the cut has split.
  return `${cleaned.slice(0, LENGTH_MAX).replace(/[\ud800-\udbff]$/, "")}…`;
}
