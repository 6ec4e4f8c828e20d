/** Cuts a text into at most `count` pieces of about the same length. */
export function cutIntoPieces(text: string, count: number): string[] {
  const length = Math.max(1, Math.ceil(text.length / count));
  return Array.from({ length: Math.ceil(text.length / length) }, (_, index) =>
    text.slice(index * length, (index + 1) * length),
  );
}
