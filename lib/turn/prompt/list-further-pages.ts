/** Maximum length of the pages that the instructions name, in characters. */
const CHARACTERS_MAX = 8_000;

/**
 * Lists a session's further target pages for the instructions: as many as fit, the newest first, and the number of the
 * pages that do not fit.
 *
 * @param urls the target pages, in the order in which they were added.
 * @param shown the pages that the instructions name before the list, such as the selected one.
 */
export function listFurtherPages(urls: readonly string[], shown: readonly (string | null)[]): string[] {
  const further = [...new Set(urls.toReversed())].filter((url) => !shown.includes(url));
  const lines: string[] = [];
  let characters = shown.reduce((sum, url) => sum + (url?.length ?? 0), 0);
  for (const url of further) {
    const line = `Further page: ${url}`;
    if (characters + line.length + 1 > CHARACTERS_MAX) continue;
    characters += line.length + 1;
    lines.push(line);
  }
  const left = further.length - lines.length;
  if (left > 0) lines.push(`Further pages that are not listed here: ${left}`);
  return lines;
}
