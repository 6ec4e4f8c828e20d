/** Lets work of one name go ahead a few at a time, the rest in the order it came. */
export type Turns = <Result>(
  name: string,
  signal: AbortSignal,
  work: () => Promise<Result>,
) => Promise<Result>;

type Line = { busy: number; waiting: (() => void)[] };

/**
 * Makes the turns of one process.
 *
 * @param limits.atOnce how many of a name play side by side; @param limits.waitingMax how many may wait for them.
 * The work is not begun, and an Error with a sentence thrown, where too many wait or the signal fires first.
 */
export function createTurns(limits: { atOnce: number; waitingMax: number }): Turns {
  const lines = new Map<string, Line>();

  async function enter(line: Line, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (line.busy < limits.atOnce) {
      line.busy++;
      return;
    }
    if (line.waiting.length >= limits.waitingMax)
      throw new Error("Too many calls are waiting already; try again when they are over.");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = () => {
      line.waiting.splice(line.waiting.indexOf(resolve), 1);
      reject(new Error("The call was stopped while it waited for its turn."));
    };
    // Whoever leaves hands its place over, so that `busy` stays as it is.
    line.waiting.push(resolve);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  function leave(name: string, line: Line): void {
    const next = line.waiting.shift();
    if (next) next();
    else if (--line.busy === 0) lines.delete(name);
  }

  return async (name, signal, work) => {
    const line = lines.get(name) ?? { busy: 0, waiting: [] };
    lines.set(name, line);
    await enter(line, signal);
    try {
      return await work();
    } finally {
      leave(name, line);
    }
  };
}
