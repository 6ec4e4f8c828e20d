const ROUNDS_MIN = 5;

/**
 * Repeats `measurePair`, which measures the subject and then the baseline, so that the noise of a shared machine
 * affects both. Ends early after `secondsMax`, but plays at least five rounds.
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
