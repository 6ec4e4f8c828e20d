/**
 * Waits until all promises have settled, even if one of them rejects. The caller can then close what the promises have
 * opened.
 *
 * @throws the first error.
 */
export async function settleAll<Results extends readonly unknown[]>(
  work: readonly [...{ [Index in keyof Results]: Promise<Results[Index]> }],
): Promise<Results> {
  await Promise.allSettled(work);
  // The cast is safe: each result has the index of its promise.
  return (await Promise.all(work)) as unknown as Results;
}
