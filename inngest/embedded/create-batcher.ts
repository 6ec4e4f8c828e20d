/** Maximum number of items in a batch. A single call with more items is not split; it becomes one larger batch. */
const BATCH_MAX = 200;

/**
 * Creates a function that processes items in batches. While a batch is being processed, new items wait for the next
 * batch. If no batch is being processed, a batch starts after `lingerMs`. The promise of each call settles when its
 * batch has ended.
 *
 * @param lingerMs how long a batch waits for more items after its first item; by default, the batch starts at once.
 */
export function createBatcher<Item>(processBatch: (items: Item[]) => Promise<void>, lingerMs = 0) {
  let isBusy = false;
  const waiting: { items: Item[]; end: PromiseWithResolvers<void> }[] = [];

  async function start(items: Item[]): Promise<void> {
    isBusy = true;
    try {
      await processBatch(items);
    } finally {
      isBusy = false;
      startNext();
    }
  }

  function startNext() {
    let count = 0;
    let size = 0;
    for (const { items } of waiting) {
      if (count > 0 && size + items.length > BATCH_MAX) break;
      count++;
      size += items.length;
    }
    const batch = waiting.splice(0, count);
    if (batch.length === 0) return;
    start(batch.flatMap(({ items }) => items)).then(
      () => {
        for (const { end } of batch) end.resolve();
      },
      (error: unknown) => {
        for (const { end } of batch) end.reject(error);
      },
    );
  }

  return function add(items: Item[]): Promise<void> {
    if (!isBusy && lingerMs === 0) return start(items);
    const end = Promise.withResolvers<void>();
    waiting.push({ items, end });
    if (!isBusy) {
      isBusy = true;
      setTimeout(startNext, lingerMs);
    }
    return end.promise;
  };
}
