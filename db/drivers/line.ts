/** A line in which one after the other has its turn. */
export type Line = {
  /** Waits for the turn. @returns the way to end it, which may be called again. */
  enter: () => Promise<() => void>;
};

/** Makes a {@link Line}: turns come in the order in which they were asked for. */
export function createLine(): Line {
  const waiting: (() => void)[] = [];
  let isTaken = false;

  function makeLeave() {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      const next = waiting.shift();
      if (next) next();
      else isTaken = false;
    };
  }

  return {
    async enter() {
      if (isTaken) await new Promise<void>((resolve) => waiting.push(resolve));
      isTaken = true;
      return makeLeave();
    },
  };
}
