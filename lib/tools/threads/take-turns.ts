/** What came of work that had to wait for its turn: its result, or why it was never begun. */
export type TurnOutcome<Result> = { ok: true; value: Result } | { ok: false; error: string };

/** Lets work of one name go ahead a few at a time, the rest in the order it came. */
type Turns = <Result>(
  name: string,
  signal: AbortSignal,
  work: () => Promise<Result>,
) => Promise<TurnOutcome<Result>>;

type Line = { busy: number; waiting: ((error?: string) => void)[] };

const STOPPED = "The call was stopped while it waited for its turn.";

/**
 * Makes the turns of one process. Work is not begun where too many wait already, or the signal fires first.
 *
 * @param limits.atOnce how many of a name play side by side; @param limits.waitingMax how many may wait for them.
 */
export function createTurns(limits: { atOnce: number; waitingMax: number }): Turns {
  const lines = new Map<string, Line>();

  /** @returns why the work may not begin; undefined where it may. */
  async function enter(line: Line, signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) return STOPPED;
    if (line.busy < limits.atOnce) {
      line.busy++;
      return undefined;
    }
    if (line.waiting.length >= limits.waitingMax)
      return "Too many calls are waiting already; try again when they are over.";
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const onAbort = () => {
      line.waiting.splice(line.waiting.indexOf(resolve), 1);
      resolve(STOPPED);
    };
    line.waiting.push(resolve);
    signal.addEventListener("abort", onAbort, { once: true });
    const refusal = await promise;
    signal.removeEventListener("abort", onAbort);
    return refusal;
  }

  function leave(name: string, line: Line): void {
    // Whoever leaves hands its place over, so that `busy` stays as it is.
    const next = line.waiting.shift();
    if (next) next();
    else if (--line.busy === 0) lines.delete(name);
  }

  return async (name, signal, work) => {
    const line = lines.get(name) ?? { busy: 0, waiting: [] };
    lines.set(name, line);
    const refusal = await enter(line, signal);
    if (refusal !== undefined) {
      if (line.busy === 0) lines.delete(name);
      return { ok: false, error: refusal };
    }
    try {
      return { ok: true, value: await work() };
    } finally {
      leave(name, line);
    }
  };
}
