const ROUNDS_LEAST = 5;

/**
 * Repeats a pair of measurements, one of the subject and one of what stands beside it, so that both meet the same noise
 * of a shared machine. Ends early, after five rounds at least, when `secondsMax` have passed.
 */
export async function repeat<Pair>(
  { rounds, secondsMax }: { rounds: number; secondsMax: number },
  measurePair: () => Promise<Pair>,
): Promise<Pair[]> {
  const endsAt = performance.now() + secondsMax * 1000;
  const pairs: Pair[] = [];
  while (pairs.length < rounds && (pairs.length < ROUNDS_LEAST || performance.now() < endsAt))
    pairs.push(await measurePair());
  return pairs;
}
