const LENGTH_MAX = 500;

/** API keys, user tokens, and queries of URLs, in which tokens are sent. */
const SECRETS: [RegExp, string][] = [
  [/\bask_[a-z0-9]{1,40}_[\w-]+/gi, "ask_[removed]"],
  [/\bust1\.[\w-]+(\.[\w-]+)?/g, "[user token]"],
  [/\?[^\s"']+/g, "?[removed]"],
  // Credentials in a URL.
  [/\/\/[^\s/@]+@/g, "//[removed]@"],
];

/** Cuts a text, and replaces what may be a credential in it. */
export function removeSecrets(text: string): string {
  let cleaned = text.slice(0, 4 * LENGTH_MAX);
  for (const [pattern, replacement] of SECRETS) cleaned = cleaned.replace(pattern, replacement);
  return cleaned.length > LENGTH_MAX ? `${cleaned.slice(0, LENGTH_MAX)}…` : cleaned;
}
