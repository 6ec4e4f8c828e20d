/** How a lane writes. Outcomes are identified by the items' keys. */
type LaneOptions<Item, Outcome> = {
  /** Items with the same key are never written together. */
  keyOf: (item: Item) => string;
  /** Writes items in one statement that waits for no lock. An item without an outcome was left out. */
  writeTogether: (items: readonly Item[]) => Promise<ReadonlyMap<string, Outcome>>;
  /** Writes one item, and waits for locks. */
  writeAlone: (item: Item) => Promise<Outcome>;
  /** Whether an error leaves it open what was written. */
  isOutcomeUnknown: (error: unknown) => boolean;
};

/** Most items of a statement. Larger statements are hardly cheaper per item, and the items wait longer for each other. */
const TOGETHER_MAX = 16;
/** Most statements of a lane at the same time. A second one keeps a slow statement from stopping the lane. */
const STATEMENTS_MAX = 2;

/**
 * Creates a function that writes items, and lets items of the same moment share a statement: while statements are on
 * their way, further items gather for the next one. Nothing waits for a timer, and an item that meets no other is sent
 * at once. Each item has an outcome of its own. An item that a statement leaves out is written alone, and so are all
 * items of a statement that fails, because the failure may be due to one of them. If it is unknown what a statement has
 * written, all its items fail with its error.
 */
export function createLane<Item, Outcome>({
  keyOf,
  writeTogether,
  writeAlone,
  isOutcomeUnknown,
}: LaneOptions<Item, Outcome>): (item: Item) => Promise<Outcome> {
  type Waiting = { item: Item; end: PromiseWithResolvers<Outcome> };
  let waiting: Waiting[] = [];
  let statements = 0;

  const finishAlone = ({ item, end }: Waiting): void => void writeAlone(item).then(end.resolve, end.reject);

  async function write(together: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await writeTogether(together.map(({ item }) => item));
      for (const each of together) {
        const outcome = outcomes.get(keyOf(each.item));
        if (outcome === undefined) finishAlone(each);
        else each.end.resolve(outcome);
      }
    } catch (error) {
      if (together.length === 1 || isOutcomeUnknown(error)) for (const { end } of together) end.reject(error);
      else together.forEach(finishAlone);
    }
  }

  /** Takes the first items that wait, except those whose key is among them already. */
  function takeTogether(): Waiting[] {
    const taken = new Map<string, Waiting>();
    const left: Waiting[] = [];
    for (const each of waiting) {
      const key = keyOf(each.item);
      if (taken.size === TOGETHER_MAX || taken.has(key)) left.push(each);
      else taken.set(key, each);
    }
    waiting = left;
    return [...taken.values()];
  }

  function startNext(): void {
    while (waiting.length > 0 && statements < STATEMENTS_MAX) {
      statements += 1;
      void write(takeTogether()).finally(() => {
        statements -= 1;
        startNext();
      });
    }
  }

  return (item) => {
    const end = Promise.withResolvers<Outcome>();
    waiting.push({ item, end });
    startNext();
    return end.promise;
  };
}
