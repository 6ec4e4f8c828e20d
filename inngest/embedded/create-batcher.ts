/** More than this goes into two statements. */
const BATCH_MAX = 200;

/**
 * Hands items on in batches: at once while nothing is under way, and what comes meanwhile together, after it. Each
 * caller's promise ends as its batch does.
 *
 * @param lingerMs how long what comes alone waits for company.
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
