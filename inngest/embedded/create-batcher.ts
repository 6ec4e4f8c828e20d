/** Items of one batch. A single call with more items is not split. */
const BATCH_MAX = 200;

/**
 * Processes items in batches: at once when no batch is being processed; items that arrive meanwhile go into the next
 * batch. Each caller's promise settles with its batch.
 *
 * @param lingerMs how long the first item waits for more items.
 */
export function createBatcher<Item>(carryOut: (items: Item[]) => Promise<void>, lingerMs = 0) {
  let isBusy = false;
  const waiting: { items: Item[]; end: PromiseWithResolvers<void> }[] = [];

  async function start(items: Item[]): Promise<void> {
    isBusy = true;
    try {
      await carryOut(items);
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
