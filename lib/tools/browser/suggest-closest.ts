const SUGGESTIONS_MAX = 6;

/** Picks what comes closest to the words that found nothing: by words and beginnings of words in common, else the first few. */
export function suggestClosest<Node extends { role: string; name: string }>(
  wanted: string,
  nodes: Node[],
): Node[] {
  const words = readWords(wanted);
  const named = nodes.filter((node) => node.name.trim() !== "");
  const scored = named
    .map((node) => ({ node, score: countShared(words, readWords(`${node.role} ${node.name}`)) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ node }) => node);
  return (scored.length > 0 ? scored : named).slice(0, SUGGESTIONS_MAX);
}

const readWords = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];

function countShared(wanted: string[], offered: string[]): number {
  let score = 0;
  for (const word of wanted) {
    if (offered.includes(word)) score += 2;
    else if (offered.some((other) => other.startsWith(word.slice(0, 4)) && word.length >= 4)) score += 1;
  }
  return score;
}
