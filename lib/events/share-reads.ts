/**
 * Answers everybody who asks the same at the same time with one read. Whoever comes while one is under way waits for
 * the next one: what the first finds may be older than the question.
 *
 * @param keyOf what makes two questions the same.
 */
export function shareReads<Asked, Found>(
  read: (asked: Asked) => Promise<Found>,
  keyOf: (asked: Asked) => string,
): (asked: Asked) => Promise<Found> {
  const lines = new Map<string, { running: Promise<Found>; next?: Promise<Found> }>();

  function begin(key: string, asked: Asked): Promise<Found> {
    const line: { running: Promise<Found>; next?: Promise<Found> } = { running: read(asked) };
    lines.set(key, line);
    const end = () => {
      if (!line.next) lines.delete(key);
    };
    line.running.then(end, end);
    return line.running;
  }

  return (asked) => {
    const key = keyOf(asked);
    const line = lines.get(key);
    if (!line) return begin(key, asked);
    line.next ??= line.running.then(
      () => begin(key, asked),
      () => begin(key, asked),
    );
    return line.next;
  };
}
