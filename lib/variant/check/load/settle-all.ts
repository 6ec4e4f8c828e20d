/** Waits for all, also when one fails: what the others open is closed by then. @throws the first failure. */
export async function settleAll<Results extends readonly unknown[]>(
  work: readonly [...{ [Index in keyof Results]: Promise<Results[Index]> }],
): Promise<Results> {
  await Promise.allSettled(work);
  // Each result stands where its promise stood.
  return (await Promise.all(work)) as unknown as Results;
}
