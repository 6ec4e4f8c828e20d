const ROUNDS_MIN = 5;

/**
 * Repeats a pair of measurements, one of the subject and one of a baseline, so that both are exposed to the same noise of a
 * shared machine. Ends early when `secondsMax` have passed, but not before five rounds.
 */
export async function repeat<Pair>(
  { rounds, secondsMax }: { rounds: number; secondsMax: number },
  measurePair: () => Promise<Pair>,
): Promise<Pair[]> {
  const endsAt = performance.now() + secondsMax * 1000;
  const pairs: Pair[] = [];
  while (pairs.length < rounds && (pairs.length < ROUNDS_MIN || performance.now() < endsAt))
    pairs.push(await measurePair());
  return pairs;
}
